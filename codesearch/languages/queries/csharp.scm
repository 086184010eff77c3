(method_declaration name: (identifier) @name body: (_)? @body) @method
(constructor_declaration name: (identifier) @name body: (_)? @body) @method
(destructor_declaration name: (identifier) @name body: (_) @body) @method
(operator_declaration operator: _ @name body: (_)? @body) @method
(conversion_operator_declaration type: (_) @name body: (_)? @body) @method
(indexer_declaration "this" @name accessors: (accessor_list) @body) @method
(indexer_declaration "this" @name value: (arrow_expression_clause) @body) @method
(property_declaration name: (identifier) @name accessors: (accessor_list (accessor_declaration body: (_))) @body) @method
(property_declaration name: (identifier) @name value: (arrow_expression_clause) @body) @method
(property_declaration name: (identifier) @name value: [(lambda_expression body: (_) @body) (anonymous_method_expression (_) @body)]) @method
(event_declaration name: (identifier) @name accessors: (accessor_list) @body) @method
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name (lambda_expression body: (block) @body)))) @method
(local_function_statement name: (identifier) @name body: (_) @body) @function

(class_declaration name: (identifier) @name body: (declaration_list)? @body) @class
(struct_declaration name: (identifier) @name body: (declaration_list)? @body) @struct
(record_declaration name: (identifier) @name body: (declaration_list)? @body) @class
(interface_declaration name: (identifier) @name body: (declaration_list)? @body) @interface
(enum_declaration name: (identifier) @name body: (enum_member_declaration_list)? @body) @enum
(delegate_declaration name: (identifier) @name) @type
(field_declaration (modifier "static") (variable_declaration (variable_declarator name: (identifier) @name (_)))) @constant
(field_declaration (modifier "const") (variable_declaration (variable_declarator name: (identifier) @name (_)))) @constant

(namespace_declaration name: (_) @name body: (declaration_list)) @scope
; `namespace A.B;` holds the rest of the file without enclosing it.
(compilation_unit (file_scoped_namespace_declaration name: (_) @name)) @scope

(attribute_list) @attribute
(comment) @comment
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @field
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @field
(property_declaration name: (identifier) @name) @field
(enum_member_declaration name: (identifier) @name) @field
(record_declaration (parameter_list (parameter name: (identifier) @name) @field))
