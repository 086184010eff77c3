(** A shop. *)
open Base

type t = { id : int; name : string }
and colour = Red | Green

exception Closed of string

module Cart = struct
  (** Total of it. *)
  let total lines = List.fold_left (+) 0 lines

  let rec even n = n = 0 || odd (n - 1)
  and odd n = even (n - 1)
  let limit = 10
end

module type S = sig
  type t
  val create : int -> t
end

module Make (X : S) : S = struct
  let create n = n
end

class shape n = object
  val mutable size = n
  method area = size * size
end

let (>>=) m f = bind m f
let () = print_endline "x"
let table = [
  1;
  2;
]
external now : unit -> float = "now"
