(value_specification [(value_name) (parenthesized_operator)] @name) @function
(external [(value_name) (parenthesized_operator)] @name) @function
(type_binding name: (_) @name) @type
(module_definition (module_binding (module_name) @name (signature) @body)) @class
(module_definition (module_binding (module_name) @name)) @class
(module_type_definition (module_type_name) @name body: (_)? @body) @interface
; let TYPE = (class_body_type) @body
(class_definition (class_binding (class_name) @name class_type: [
    TYPE (class_function_type codomain: [TYPE (class_function_type codomain: [TYPE (class_function_type codomain: TYPE)])])
  ])) @class
(class_definition (class_binding (class_name) @name)) @class
(class_type_definition (class_type_binding (class_type_name) @name body: (_)? @body)) @interface
(method_specification (method_name) @name) @method

((comment) @comment (#set! documents "above"))
(field_declaration (field_name) @name) @field
(constructor_declaration (constructor_name) @name) @field
(type_binding body: (polymorphic_variant_type (tag_specification (tag) @name) @field))
(instance_variable_specification (instance_variable_name) @name) @field
