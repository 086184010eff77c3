; inherits: lua
(type_definition name: [(identifier) @name (generic_type . (identifier) @name)]) @type
(type_definition (object_type (identifier) @name @field . ":"))
; let CAST = (cast_expression . (function_definition body: (block)? @body) @function)
(field name: (_) @name value: CAST)
(assignment_statement (variable_list . name: [(identifier) (dot_index_expression)] @name) (expression_list . value: CAST))
