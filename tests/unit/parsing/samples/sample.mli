(** Make one. *)
val create : int -> t

type t
module M : sig
  val x : int
  (** The number. *)

  val y : int
end
