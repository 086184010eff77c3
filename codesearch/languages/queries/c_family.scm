(type_definition type: [
    (struct_specifier !name body: (field_declaration_list) @body)
    (union_specifier !name body: (field_declaration_list) @body)
  ] declarator: (type_identifier) @name) @struct
(type_definition type: (enum_specifier !name body: (enumerator_list) @body)
  declarator: (type_identifier) @name) @enum
; let TABLE = (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: [(identifier) @name (array_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name)])])))
; each: translation_unit declaration_list preproc_ifdef preproc_if preproc_elif preproc_else
((EACH (declaration declarator: [
    (identifier) @name
    (array_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name)])
    (pointer_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name) TABLE])
    TABLE
    (init_declarator declarator: [
      TABLE
      (identifier) @name
      (array_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name)])
      (pointer_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name) TABLE])
    ])
  ]) @constant) (#not-match? @constant "^extern"))

; let NAMED = (function_declarator declarator: [(identifier) @name (parenthesized_declarator (identifier) @name)])
; each: translation_unit declaration_list linkage_specification preproc_ifdef preproc_if preproc_elif preproc_else
(EACH (declaration declarator: [
    NAMED
    (pointer_declarator declarator: [NAMED (pointer_declarator declarator: [NAMED (pointer_declarator declarator: NAMED)])])
  ]) @prototype)

(preproc_def name: (identifier) @name value: (_)) @field
((preproc_function_def name: (identifier) @name value: (_) @body) @function (#match? @function "\\\\\r?\n"))
(preproc_function_def name: (identifier) @name) @field
(comment) @comment
; let FUNCTION = (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: [(field_identifier) @name (array_declarator declarator: (field_identifier) @name)])))
(field_declaration declarator: [
    (field_identifier) @name
    (array_declarator declarator: [(field_identifier) @name (array_declarator declarator: (field_identifier) @name)])
    (pointer_declarator declarator: [
      (field_identifier) @name
      (array_declarator declarator: (field_identifier) @name)
      (pointer_declarator declarator: [(field_identifier) @name FUNCTION])
      FUNCTION
    ])
    FUNCTION
  ]) @field
(type_definition type: [
    (struct_specifier name: (_) body: (_)) (union_specifier name: (_) body: (_)) (enum_specifier name: (_) body: (_))
  ] declarator: [(type_identifier) @name (pointer_declarator declarator: (type_identifier) @name)]) @field
(enumerator name: (identifier) @name) @field
; A macro that defines a function: `TEST_CASE("title") { ... }` (see `masks`).
(function_definition type: (type_identifier) declarator: (identifier) @name body: (compound_statement) @body) @function
