; inherits: lua
(type_definition name: [(identifier) @name (generic_type . (identifier) @name)]) @type
(type_definition (object_type (identifier) @name @field . ":"))
