/// Sum of the lines.
let total (lines: Line list) =
    let sum x = 0
    lines |> List.map (fun line -> line.price)

type Order =
    { Id: int }
