(function_declaration name: (identifier) @name body: (statement_block) @body) @function
(generator_function_declaration name: (identifier) @name body: (statement_block) @body) @function
(method_definition name: (_) @name body: (statement_block) @body) @method
(abstract_method_signature name: (_) @name) @method
(interface_body (method_signature name: (_) @name) @method)
(class_declaration name: (type_identifier) @name body: (class_body) @body) @class
(abstract_class_declaration name: (type_identifier) @name body: (class_body) @body) @class
(interface_declaration name: (type_identifier) @name body: (interface_body) @body) @interface
(enum_declaration name: (identifier) @name body: (enum_body) @body) @enum
(type_alias_declaration name: (type_identifier) @name value: (object_type) @body) @type
(type_alias_declaration name: (type_identifier) @name) @type
(variable_declarator name: (identifier) @name value: (class body: (class_body) @body) @class)
(internal_module name: (_) @name body: (statement_block)) @scope
(module name: (_) @name body: (statement_block)) @scope

(variable_declarator name: (identifier) @name
  value: [(function_expression body: (_) @body) (generator_function body: (_) @body) (arrow_function body: (_) @body)] @function)
(assignment_expression left: [(identifier) (member_expression) (subscript_expression)] @name
  right: [(function_expression body: (_) @body) (generator_function body: (_) @body) (arrow_function body: (_) @body)] @function)
(pair key: (_) @name
  value: [(function_expression body: (_) @body) (generator_function body: (_) @body) (arrow_function body: (_) @body)] @function)
(public_field_definition name: (_) @name
  value: [(function_expression body: (_) @body) (generator_function body: (_) @body) (arrow_function body: (_) @body)] @method)

(program (_ (variable_declarator name: (identifier) @name value: [
    (object) @table (array) @table
    (as_expression [(object) (array)] @table) (satisfies_expression [(object) (array)] @table) (_)
  ])) @constant)
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name value: [
    (object) @table (array) @table
    (as_expression [(object) (array)] @table) (satisfies_expression [(object) (array)] @table) (_)
  ]))) @constant)
(program (export_statement value: [(object) (array)]) @constant)
(program (expression_statement (assignment_expression left: [(identifier) (member_expression)] @name right: [(object) (array)])) @constant)
(internal_module body: (statement_block (export_statement (lexical_declaration (variable_declarator name: (identifier) @name value: (_)))) @constant))

(decorator) @attribute
(comment) @comment

(function_expression name: (identifier) @name body: (_) @body) @function
(function_expression body: (_) @body) @anonymous
(generator_function body: (_) @body) @anonymous
(arrow_function body: (_) @body) @anonymous
