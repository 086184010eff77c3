(function_definition declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
    (function_declarator declarator: (parenthesized_declarator
      (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))))
  ] body: (compound_statement) @body) @function
(struct_specifier name: (type_identifier) @name body: (field_declaration_list) @body) @class
(union_specifier name: (type_identifier) @name body: (field_declaration_list) @body) @class
(enum_specifier name: (type_identifier) @name body: (enumerator_list) @body) @class
(type_definition type: [
    (struct_specifier !name body: (field_declaration_list) @body)
    (union_specifier !name body: (field_declaration_list) @body)
    (enum_specifier !name body: (enumerator_list) @body)
  ] declarator: (type_identifier) @name) @class
(comment) @comment
