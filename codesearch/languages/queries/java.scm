(method_declaration name: (identifier) @name body: (block)? @body) @method
(constructor_declaration name: (identifier) @name body: (constructor_body) @body) @method
(compact_constructor_declaration name: (identifier) @name body: (block) @body) @method
(static_initializer "static" @name (block) @body) @method
(class_declaration name: (identifier) @name body: (class_body) @body) @class
(interface_declaration name: (identifier) @name body: (interface_body) @body) @interface
(enum_declaration name: (identifier) @name body: (enum_body) @body) @enum
(record_declaration name: (identifier) @name body: (class_body) @body) @class
(annotation_type_declaration name: (identifier) @name body: (annotation_type_body) @body) @interface
(field_declaration (modifiers "static") declarator: (variable_declarator name: (identifier) @name value: (_))) @constant
(constant_declaration declarator: (variable_declarator name: (identifier) @name value: (_))) @constant
(variable_declarator name: (identifier) @name value: (object_creation_expression (class_body) @owner))
(object_creation_expression (class_body) @owner)
(annotation) @attribute
(marker_annotation) @attribute
(block_comment) @comment
(line_comment) @comment
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @field
(program (local_variable_declaration declarator: (variable_declarator name: (identifier) @name)) @constant)
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @field
(enum_constant name: (identifier) @name) @field
(record_declaration parameters: (formal_parameters (formal_parameter name: (identifier) @name) @field))
(annotation_type_element_declaration name: (identifier) @name) @field
