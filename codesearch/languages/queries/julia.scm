(module_definition name: (identifier) @name) @scope
(module_definition name: (identifier) @name @field)
; let NAMED = (call_expression . [(identifier) @name (field_expression) @name (operator) @name (parenthesized_expression) @name (parametrized_type_expression . (_) @name)])
; let TYPED = NAMED (typed_expression . NAMED) (binary_expression . (_) . (operator) @name . (_))
; let HEAD = TYPED (where_expression . [TYPED (where_expression . [TYPED (where_expression . [TYPED])])])
((function_definition (signature [HEAD (identifier) @name (argument_list . (binary_expression . (_) . (operator) @name . (_)) .)]) . (_)? @body) @function
  (#set! joins "clauses"))
(assignment . [HEAD (parenthesized_expression [HEAD])] (operator) . (_) @body) @function
(source_file (assignment . (identifier) @name (operator) . [(arrow_function_expression (_) @body .) (function_definition (signature (argument_list)))] @function))
(module_definition (assignment . (identifier) @name (operator) . [(arrow_function_expression (_) @body .) (function_definition (signature (argument_list)))] @function))
(macrocall_expression (macro_identifier (identifier) @_call) (macro_argument_list (string_literal) @name (compound_statement) @body)
  (#eq? @_call "testset")) @function @test
(macro_definition (signature [(call_expression . (_) @name) (identifier) @name]) . (_)? @body) @function

(struct_definition (type_head [
    (identifier) @name
    (parametrized_type_expression . (identifier) @name)
    (binary_expression . [(identifier) @name (parametrized_type_expression . (identifier) @name)])
  ])) @struct
; each: abstract_definition primitive_definition
(EACH (type_head [
    (identifier) @name
    (parametrized_type_expression . (identifier) @name)
    (binary_expression . [(identifier) @name (parametrized_type_expression . (identifier) @name)])
  ])) @type

; each: source_file module_definition
(EACH (assignment . (parametrized_type_expression . (identifier) @name) (operator)) @type)

(const_statement (assignment . (parametrized_type_expression . (identifier) @name))) @type
(const_statement (assignment . [(identifier) @name (operator) @name (typed_expression . (identifier) @name)])) @constant
(const_statement (assignment . (open_tuple (identifier) @name @field)))
(macrocall_expression (macro_identifier (identifier) @_call)
  (macro_argument_list . [(identifier) @name (typed_expression . (identifier) @name)]) (#any-of? @_call "enum" "cenum")) @enum
(macrocall_expression (macro_identifier (identifier) @_call)
  (macro_argument_list . (_) [
    (identifier) @name @field (assignment . (identifier) @name) @field
    (compound_statement [(identifier) @name @field (assignment . (identifier) @name) @field])
  ]) (#any-of? @_call "enum" "cenum"))

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
