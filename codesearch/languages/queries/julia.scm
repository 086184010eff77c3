(module_definition name: (identifier) @name) @scope
(function_definition (signature [
    (call_expression . [(identifier) @name (field_expression) @name (operator) @name (parenthesized_expression) @name (parametrized_type_expression . (_) @name)])
    (typed_expression . (call_expression . [(identifier) @name (field_expression) @name (operator) @name (parenthesized_expression) @name (parametrized_type_expression . (_) @name)]))
    (where_expression . [(call_expression . [(identifier) @name (field_expression) @name (operator) @name (parenthesized_expression) @name (parametrized_type_expression . (_) @name)]) (typed_expression . (call_expression . [(identifier) @name (field_expression) @name (operator) @name (parenthesized_expression) @name (parametrized_type_expression . (_) @name)]))])
  ]) . (_)? @body (#set! joins "clauses")) @function
(assignment . [
    (call_expression . [(identifier) @name (field_expression) @name (operator) @name (parenthesized_expression) @name (parametrized_type_expression . (_) @name)])
    (typed_expression . (call_expression . [(identifier) @name (field_expression) @name (operator) @name (parenthesized_expression) @name (parametrized_type_expression . (_) @name)]))
    (where_expression . [(call_expression . [(identifier) @name (field_expression) @name (operator) @name (parenthesized_expression) @name (parametrized_type_expression . (_) @name)]) (typed_expression . (call_expression . [(identifier) @name (field_expression) @name (operator) @name (parenthesized_expression) @name (parametrized_type_expression . (_) @name)]))])
  ] (operator) . (_) @body) @function
(source_file (assignment . (identifier) @name (operator) . [(arrow_function_expression (_) @body .) (function_definition (signature (argument_list)))] @function))
(module_definition (assignment . (identifier) @name (operator) . [(arrow_function_expression (_) @body .) (function_definition (signature (argument_list)))] @function))
(macrocall_expression (macro_identifier (identifier) @_call) (macro_argument_list (string_literal) @name (compound_statement) @body)
  (#eq? @_call "testset")) @function @test
(macro_definition (signature (call_expression . (_) @name)) . (_)? @body) @function

(struct_definition (type_head [
    (identifier) @name
    (parametrized_type_expression . (identifier) @name)
    (binary_expression . [(identifier) @name (parametrized_type_expression . (identifier) @name)])
  ])) @struct
(abstract_definition (type_head [
    (identifier) @name
    (parametrized_type_expression . (identifier) @name)
    (binary_expression . [(identifier) @name (parametrized_type_expression . (identifier) @name)])
  ])) @type
(const_statement (assignment . [(identifier) @name (parametrized_type_expression . (identifier) @name) (typed_expression . (identifier) @name)])) @constant

(source_file (string_literal) @comment)
(module_definition (string_literal) @comment)
(line_comment) @comment
(block_comment) @comment
(struct_definition [
    (typed_expression . (identifier) @name) @field
    (identifier) @name @field
    (assignment . [(typed_expression . (identifier) @name) (identifier) @name]) @field
    (macrocall_expression (macro_argument_list [(typed_expression . (identifier) @name) (identifier) @name])) @field
  ])
