(value_specification [(value_name) (parenthesized_operator)] @name) @function
(external [(value_name) (parenthesized_operator)] @name) @function
(type_binding name: (_) @name) @type
(module_definition (module_binding (module_name) @name (signature) @body)) @class
(module_type_definition (module_type_name) @name body: (_) @body) @interface
(class_definition (class_binding (class_name) @name body: (_) @body)) @class

((comment) @comment (#set! documents "above"))
(field_declaration (field_name) @name) @field
(constructor_declaration (constructor_name) @name) @field
