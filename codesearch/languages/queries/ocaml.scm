(value_definition (let_binding pattern: [(value_name) (parenthesized_operator)] @name (parameter) body: (_) @body) @function)
(value_definition (let_binding pattern: [(value_name) (parenthesized_operator)] @name . (comment)* . type: (_)? . (comment)* . body: [
    (fun_expression) (function_expression)
  ] @body) @function)
(value_definition (let_binding pattern: (_) @name . type: [(function_type) (polymorphic_type (function_type))] body: (_) @body) @function)
(value_definition (let_binding pattern: (parenthesized_operator) @name . (comment)* . type: (_)? . (comment)* . body: (_) @body) @function)
; each: compilation_unit structure
(EACH (value_definition (let_binding pattern: (value_name) @name . (comment)* . type: (_)? . (comment)* . body: (_)) @constant))
(EACH (value_definition (let_binding pattern: [
    (tuple_pattern (value_name) @name) (parenthesized_pattern (tuple_pattern (value_name) @name))
  ]) @field))

(value_specification [(value_name) (parenthesized_operator)] @name) @function
(external [(value_name) (parenthesized_operator)] @name) @function
(type_binding name: (_) @name) @type
(module_definition (module_binding (module_name) @name [(structure) (signature) (functor)] @body)) @class
(module_definition (module_binding (module_name) @name)) @class
(module_type_definition (module_type_name) @name body: (_)? @body) @interface
(class_definition (class_binding (class_name) @name body: (_)? @body)) @class
(class_type_definition (class_type_binding (class_type_name) @name body: (_)? @body)) @interface
(method_definition (method_name) @name body: (_)? @body) @method
(method_specification (method_name) @name) @method

((comment) @comment (#set! documents "above"))
(field_declaration (field_name) @name) @field
(constructor_declaration (constructor_name) @name) @field
(type_binding body: (polymorphic_variant_type (tag_specification (tag) @name) @field))
(instance_variable_definition (instance_variable_name) @name) @field
(instance_variable_specification (instance_variable_name) @name) @field
