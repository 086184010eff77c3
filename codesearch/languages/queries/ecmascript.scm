(function_declaration name: (identifier) @name body: (statement_block) @body) @function
(generator_function_declaration name: (identifier) @name body: (statement_block) @body) @function
(method_definition name: (_) @name body: (statement_block) @body) @method
(class_static_block "static" @name body: (_) @body) @method
(export_statement "default" value: (class !name body: (class_body) @body) @class)
(variable_declarator name: (identifier) @name value: (class body: (class_body) @body) @class)
(variable_declarator name: (identifier) @name
  value: [(function_expression body: (_) @body) (generator_function body: (_) @body) (arrow_function body: (_) @body)] @function)
(assignment_expression left: [(identifier) (member_expression) (subscript_expression)] @name
  right: [(function_expression body: (_) @body) (generator_function body: (_) @body) (arrow_function body: (_) @body)] @function)
(pair key: (_) @name
  value: [(function_expression body: (_) @body) (generator_function body: (_) @body) (arrow_function body: (_) @body)] @function)
(program (export_statement value: [(object) (array)]) @constant)
(program (expression_statement (assignment_expression left: [(identifier) (member_expression)] @name right: [(object) (array)])) @constant)
(assignment_expression left: (member_expression) @name
  right: (assignment_expression right: [(function_expression) (generator_function) (arrow_function)])) @field
(program (_ (variable_declarator name: (identifier) @name value: (object) @owner)))
(program (export_statement (_ (variable_declarator name: (identifier) @name value: (object) @owner))))
(program (expression_statement (assignment_expression left: [(identifier) (member_expression)] @name right: (object) @owner)))
(program (expression_statement (call_expression
  function: (identifier) @name arguments: (arguments . (object) @owner .))))
((program (expression_statement (call_expression
  function: (member_expression object: (identifier) property: (_) @call) @name arguments: (arguments . (object) @owner .))))
  (#not-match? @call "^(assign|extend|mixin)$"))
((program (expression_statement (call_expression
  function: (member_expression object: [(identifier) (member_expression)] @name property: (_) @call)
  arguments: (arguments . (object) @owner .))))
  (#match? @call "^(assign|extend|mixin)$"))
(program (expression_statement (call_expression
  arguments: (arguments . [(identifier) (member_expression) (string)] @name . (object) @owner .))))
(method_definition ["get" "set"]) @accessor
(decorator) @attribute
(comment) @comment
(function_expression name: (identifier) @name body: (_) @body) @function
(function_expression name: (identifier) @name) @field
(function_expression body: (_) @body) @anonymous
(generator_function body: (_) @body) @anonymous
(arrow_function body: (_) @body) @anonymous
(export_specifier name: (identifier) alias: (identifier) @name) @field
(namespace_export (identifier) @name) @field

; What is only declared, or taken apart, at the top level, but not imported.
; each: program export_statement
(EACH (_ (variable_declarator name: (identifier) @name !value) @field))
((EACH (_ (variable_declarator name: [
    (object_pattern [
      (shorthand_property_identifier_pattern) @name
      (pair_pattern value: (identifier) @name)
      (object_assignment_pattern left: (_) @name)
    ])
    (array_pattern [(identifier) @name (assignment_pattern left: (identifier) @name)])
  ]) @field)) (#not-match? @field "(require|import)\\("))

