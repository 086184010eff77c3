type t = { id : int; mutable name : string }
type colour = Red | Green of int
class shape = object val mutable x = 1 method y = x end
