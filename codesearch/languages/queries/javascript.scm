; inherits: ecmascript
(class_declaration name: (identifier) @name body: (class_body) @body) @class
(assignment_expression left: [(identifier) (member_expression)] @name right: (class body: (class_body) @body) @class)

(field_definition property: (_) @name
  value: [(function_expression body: (_) @body) (generator_function body: (_) @body) (arrow_function body: (_) @body)] @method)

(program (_ (variable_declarator name: (identifier) @name value: (_))) @constant)
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name value: (_)))) @constant)
(field_definition property: (_) @name) @field
