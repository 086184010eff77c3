; What an interface declares is part of its document: the methods with code are in the implementation.
(class_interface . (identifier) @name) @class
(class_implementation . (identifier) @name) @owner
(protocol_declaration . (identifier) @name) @interface
(method_definition (method_type) . (identifier) @name (compound_statement) @body) @method
(protocol_declaration (method_declaration (method_type) . (identifier) @name) @method)
(protocol_declaration (qualified_protocol_interface_declaration
  (method_declaration (method_type) . (identifier) @name) @method))

(function_definition declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
  ] body: (_) @body) @function
(struct_specifier name: (type_identifier) @name body: (_) @body) @struct
(enum_specifier name: (type_identifier) @name body: (_) @body) @enum
(translation_unit (declaration declarator: (init_declarator declarator: [
    (identifier) @name
    (array_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))
  ] value: (initializer_list))) @constant)

(comment) @comment
(property_declaration (struct_declaration (struct_declarator [
    (identifier) @name (pointer_declarator declarator: (identifier) @name)
  ]))) @field
(instance_variable (struct_declaration (struct_declarator [
    (identifier) @name (pointer_declarator declarator: (identifier) @name)
  ]))) @field
(field_declaration declarator: [(field_identifier) @name (pointer_declarator declarator: (field_identifier) @name)]) @field
(enumerator name: (identifier) @name) @field
