(function_declaration name: [(identifier) (dot_index_expression)] @name body: (block)? @body) @function
(function_declaration name: (method_index_expression table: (_) @receiver method: (identifier) @name) body: (block)? @body) @method
(assignment_statement
  (variable_list . name: [(identifier) (dot_index_expression) (bracket_index_expression field: (string))] @name)
  (expression_list . value: (function_definition body: (block)? @body) @function))
(assignment_statement
  (variable_list . (_) . name: [(identifier) (dot_index_expression)] @name)
  (expression_list . (_) . value: (function_definition body: (block)? @body) @function))
(assignment_statement (variable_list . name: (_) @name) (expression_list . value: (table_constructor) @scope))
(field name: (identifier) @name value: (table_constructor) @scope)
(field name: (_) @name value: (function_definition body: (block)? @body) @function)
(chunk (variable_declaration (assignment_statement (variable_list name: (identifier) @name))) @constant)
(chunk (assignment_statement (variable_list name: (_) @name)) @constant)
(comment) @comment
(function_definition body: (block) @body) @anonymous
