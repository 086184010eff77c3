; inherits: c
; What an interface declares is part of its document: the methods with code are in the implementation.
(class_interface . (identifier) @name) @class
(class_implementation . (identifier) @name) @owner
(protocol_declaration . (identifier) @name) @interface
(method_definition (method_type) . (identifier) @name (compound_statement) @body) @method
(protocol_declaration (method_declaration (method_type) . (identifier) @name) @method)
(protocol_declaration (qualified_protocol_interface_declaration
  (method_declaration (method_type) . (identifier) @name) @method))

(property_declaration (struct_declaration (struct_declarator [
    (identifier) @name (pointer_declarator declarator: (identifier) @name)
  ]))) @field
(instance_variable (struct_declaration (struct_declarator [
    (identifier) @name (pointer_declarator declarator: (identifier) @name)
  ]))) @field
(type_definition declarator: (function_declarator declarator: (parenthesized_declarator
  (block_pointer_declarator declarator: (type_identifier) @name)))) @type
