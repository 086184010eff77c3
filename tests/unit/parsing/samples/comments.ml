let compiler, mode, ext =
  1, 2,
  3
let steps =
  (* why *)
  10_000
let typed : int =
  (* why *)
  10_000
module M = struct
  let single, multi =
    1,
    2
  let f =
    (* a *)
    fun x -> x
end
