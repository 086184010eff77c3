; inherits: ecmascript
(abstract_method_signature name: (_) @name) @method
(method_signature ["get" "set"]) @accessor
(abstract_method_signature ["get" "set"]) @accessor
((function_signature name: (identifier) @name) @function (#set! joins "overloads"))
(class_body (method_signature name: (_) @name) @method)
(interface_body (method_signature name: (_) @name) @method)
(class_declaration name: (type_identifier) @name body: (class_body) @body) @class
(abstract_class_declaration name: (type_identifier) @name body: (class_body) @body) @class
(interface_declaration name: (type_identifier) @name body: (interface_body) @body) @interface
(enum_declaration name: (identifier) @name body: (enum_body) @body) @enum
(type_alias_declaration name: (type_identifier) @name value: (object_type) @body) @type
(type_alias_declaration name: (type_identifier) @name) @type
(internal_module name: (_) @name body: (statement_block)) @scope
(module name: (_) @name body: (statement_block)) @scope

(public_field_definition name: (_) @name
  value: [(function_expression body: (_) @body) (generator_function body: (_) @body) (arrow_function body: (_) @body)] @method)

(program (_ (variable_declarator name: (identifier) @name value: (_))) @constant)
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name value: (_)))) @constant)
(internal_module body: (statement_block (export_statement (lexical_declaration (variable_declarator name: (identifier) @name value: (_)))) @constant))
(program (_ (variable_declarator name: (identifier) @name value: [(as_expression (object) @owner) (satisfies_expression (object) @owner)])))
(program (export_statement (_ (variable_declarator name: (identifier) @name
  value: [(as_expression (object) @owner) (satisfies_expression (object) @owner)]))))
(ambient_declaration [
    (_ (variable_declarator name: (identifier) @name) @field)
    (statement_block (_ (variable_declarator name: (identifier) @name) @field))
  ])
(module body: (statement_block [
    (_ (variable_declarator name: (identifier) @name) @field)
    (export_statement (_ (variable_declarator name: (identifier) @name) @field))
  ]))
(internal_module body: (statement_block (_ (variable_declarator name: (identifier) @name !value) @field)))
(public_field_definition name: (_) @name) @field
(interface_body (property_signature name: (_) @name) @field)
(type_alias_declaration value: (object_type (property_signature name: (_) @name) @field))
(enum_body name: (_) @name @field)
(enum_assignment name: (_) @name) @field
(required_parameter (accessibility_modifier) pattern: (identifier) @name) @field
