; inherits: c_family
(function_definition declarator: [
    (function_declarator declarator: [(identifier) (field_identifier) (destructor_name) (operator_name)] @name)
    (function_declarator declarator: (template_function name: (identifier) @name))
    (pointer_declarator declarator: (function_declarator declarator: [(identifier) (field_identifier) (operator_name)] @name))
    (pointer_declarator declarator: (pointer_declarator
      declarator: (function_declarator declarator: [(identifier) (field_identifier)] @name)))
    (function_declarator declarator: (parenthesized_declarator
      (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))))
    (reference_declarator (function_declarator declarator: [(identifier) (field_identifier) (operator_name)] @name))
    (pointer_declarator declarator: (reference_declarator
      (function_declarator declarator: [(identifier) (field_identifier)] @name)))
    (operator_cast) @name
  ] body: (_) @body) @function
(function_definition declarator: [
    (function_declarator declarator: (qualified_identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (qualified_identifier) @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (qualified_identifier) @name)))
    (reference_declarator (function_declarator declarator: (qualified_identifier) @name))
    (qualified_identifier) @name
  ] body: (_) @body) @method
(init_declarator value: (lambda_expression body: (_) @body) @anonymous)
(field_declaration declarator: (field_identifier) @name default_value: (initializer_list)) @constant
(field_declaration default_value: (lambda_expression body: (_) @body) @anonymous)

; Pure virtual or default: the declarations that no definition follows.
(function_definition declarator: [
    (function_declarator declarator: (_) @name)
    (reference_declarator (function_declarator declarator: (_) @name))
  ] (default_method_clause)) @method
(field_declaration declarator: [
    (function_declarator declarator: (field_identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name))
    (reference_declarator (function_declarator declarator: (field_identifier) @name))
  ] default_value: (number_literal)) @method

(class_specifier name: [(type_identifier) @name (qualified_identifier) @name (template_type name: (_) @name)]
  body: (field_declaration_list) @body) @class
(struct_specifier name: [(type_identifier) @name (qualified_identifier) @name (template_type name: (_) @name)]
  body: (field_declaration_list) @body) @struct
(union_specifier name: [(type_identifier) @name (qualified_identifier) @name (template_type name: (_) @name)]
  body: (field_declaration_list) @body) @struct
(enum_specifier name: (_) @name body: (enumerator_list) @body) @enum
(type_definition type: [
    (primitive_type) (sized_type_specifier) (type_identifier) (qualified_identifier) (template_type) (dependent_type) (decltype)
    (struct_specifier !body) (class_specifier !body) (union_specifier !body) (enum_specifier !body)
  ] declarator: [
    (type_identifier) @name
    (reference_declarator (type_identifier) @name)
    (array_declarator declarator: (type_identifier) @name)
    (pointer_declarator declarator: [
      (type_identifier) @name (reference_declarator (type_identifier) @name) (pointer_declarator declarator: (type_identifier) @name)
    ])
    (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))
    (function_declarator declarator: [(type_identifier) @name (parenthesized_declarator (type_identifier) @name)])
    (pointer_declarator declarator: (function_declarator declarator: [
      (type_identifier) @name
      (parenthesized_declarator [(type_identifier) @name (pointer_declarator declarator: (type_identifier) @name)])
    ]))
  ]) @type
; each: translation_unit declaration_list
(EACH (alias_declaration name: (type_identifier) @name) @type)
(EACH (template_declaration (alias_declaration name: (type_identifier) @name) @type))

; `class EXPORT_MACRO Name { ... }`, which the grammar takes for a function.
(function_definition type: [(class_specifier) (struct_specifier)]
  declarator: (identifier) @name body: (compound_statement) @body) @class
; A table of pointers to members.
(declaration declarator: (init_declarator declarator: (function_declarator declarator: (parenthesized_declarator
  (qualified_identifier name: (pointer_type_declarator declarator: (array_declarator declarator: (_) @name))))))) @constant
(namespace_alias_definition name: (_) @name) @field
(concept_definition name: (identifier) @name) @type
(namespace_definition name: (_) @name body: (declaration_list)) @scope

(template_declaration parameters: (template_parameter_list) @attribute)
(template_declaration (requires_clause) @attribute)

; each: field_declaration_list ERROR preproc_if preproc_ifdef template_declaration
(EACH (alias_declaration name: (type_identifier) @name) @field)

(field_declaration declarator: (reference_declarator (field_identifier) @name)) @field
; let DECLARED = (function_declarator declarator: [(identifier) (field_identifier) (destructor_name) (operator_name)] @name)
; let DECLARATOR = [DECLARED (operator_cast) @name (reference_declarator DECLARED) (pointer_declarator declarator: [DECLARED (pointer_declarator declarator: DECLARED)])]
(field_declaration declarator: DECLARATOR) @prototype
; each: field_declaration_list template_declaration preproc_ifdef preproc_if preproc_elif preproc_else
(EACH (declaration declarator: DECLARATOR) @prototype)

; each: translation_unit declaration_list
(EACH (declaration declarator: (reference_declarator DECLARED)) @prototype)
