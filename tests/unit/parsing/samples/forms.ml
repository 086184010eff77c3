type _ shape = Square : int -> int shape | Word : string -> string shape

let rec show : type a. a shape -> string = function
  | Square n -> string_of_int n
  | Word w -> w

let triple : int -> int = fun n ->
  n * 3
and halve : int -> int = fun n -> n / 2

let shorter : string -> string = String.trim

let limit : int = 9

let ( |=> ) = apply

module Table = Hashtbl.Make (Key)
module Short = Long.Path
module rec Even : S = Odd_maker (Odd)

class type door = object
  method width : int
end

class virtual motor = object
  val mutable speed = 0
  method virtual start : int
  method stop = 1
end

type version = [ `Old | `Other of string ]
