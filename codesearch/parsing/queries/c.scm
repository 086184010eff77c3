(function_definition declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
    (function_declarator declarator: (parenthesized_declarator
      (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))))
  ] body: (compound_statement) @body) @function
(struct_specifier name: (type_identifier) @name body: (field_declaration_list) @body) @struct
(union_specifier name: (type_identifier) @name body: (field_declaration_list) @body) @struct
(enum_specifier name: (type_identifier) @name body: (enumerator_list) @body) @enum
(type_definition type: [
    (struct_specifier !name body: (field_declaration_list) @body)
    (union_specifier !name body: (field_declaration_list) @body)
  ] declarator: (type_identifier) @name) @struct
(type_definition type: (enum_specifier !name body: (enumerator_list) @body)
  declarator: (type_identifier) @name) @enum
(type_definition type: [
    (primitive_type) (sized_type_specifier) (type_identifier)
    (struct_specifier !body) (union_specifier !body) (enum_specifier !body)
  ] declarator: [
    (type_identifier) @name
    (pointer_declarator declarator: (type_identifier) @name)
    (array_declarator declarator: (type_identifier) @name)
    (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))
  ]) @type
(translation_unit (declaration declarator: (init_declarator declarator: [
    (identifier) @name
    (array_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name)])
    (pointer_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name)])
  ] value: (initializer_list))) @constant)
(preproc_ifdef (declaration declarator: (init_declarator declarator: [
    (identifier) @name
    (array_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name)])
    (pointer_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name)])
  ] value: (initializer_list))) @constant)
(preproc_if (declaration declarator: (init_declarator declarator: [
    (identifier) @name
    (array_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name)])
    (pointer_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name)])
  ] value: (initializer_list))) @constant)
(preproc_else (declaration declarator: (init_declarator declarator: [
    (identifier) @name
    (array_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name)])
    (pointer_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name)])
  ] value: (initializer_list))) @constant)
(comment) @comment
