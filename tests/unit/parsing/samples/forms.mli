class timer : ?after:float -> string -> object
  method stop : unit
end

class type ['a] queue = object
  method put : 'a -> unit
end

module Table : MAP
module type Closed

type version = [> `Old ]
