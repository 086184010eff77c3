module Forms
type Cart(x: int) =
  member val Owner = "" with get, set
  member this.Add y = x + y
let (|Even|Odd|) n = if n % 2 = 0 then Even else Odd
let rec even n = odd (n - 1)
and odd n = even (n - 1)
type Tree = Leaf | Node of Pair
and Pair = { Left: Tree; Right: Tree }
