(function_declaration name: (identifier) @name body: (block)? @body) @function
(method_declaration receiver: (parameter_list) @receiver name: (field_identifier) @name body: (block)? @body) @method
; each: var_declaration var_spec_list
(EACH (var_spec name: (identifier) @name value: (expression_list . (func_literal body: (block) @body) @function)))

; Alone, a type is its declaration; in a group, which the grammar does not tell apart, its part of it.
((type_declaration "type" . (type_spec name: (type_identifier) @name type: (struct_type (field_declaration_list) @body))) @struct (#not-match? @struct "^type\\s*[(]"))
(type_declaration "(" (type_spec name: (type_identifier) @name type: (struct_type (field_declaration_list) @body)) @struct)
((type_declaration "type" . (type_spec name: (type_identifier) @name type: (interface_type "{" @body))) @interface (#not-match? @interface "^type\\s*[(]"))
(type_declaration "(" (type_spec name: (type_identifier) @name type: (interface_type "{" @body)) @interface)
((type_declaration "type" . (type_spec name: (type_identifier) @name type: [
    (type_identifier) (qualified_type) (function_type) (map_type) (slice_type) (array_type) (pointer_type)
    (channel_type) (generic_type)
  ])) @type (#not-match? @type "^type\\s*[(]"))
(type_declaration "(" (type_spec name: (type_identifier) @name type: [
    (type_identifier) (qualified_type) (function_type) (map_type) (slice_type) (array_type) (pointer_type)
    (channel_type) (generic_type)
  ]) @type)
((type_declaration "type" . (type_alias name: (type_identifier) @name)) @type (#not-match? @type "^type\\s*[(]"))
(type_declaration "(" (type_alias name: (type_identifier) @name) @type)
(type_spec type: (interface_type (method_elem name: (field_identifier) @name) @method))
; A comma of `const A, B = 1, 2` has the field `name` too.
(source_file (const_declaration (const_spec (identifier) @name)) @constant)
(source_file (var_declaration [(var_spec name: (identifier) @name) (var_spec_list (var_spec name: (identifier) @name))]) @constant)
(comment) @comment
(struct_type (field_declaration_list (field_declaration name: (field_identifier) @name) @field))
(struct_type (field_declaration_list (field_declaration !name type: [
    (type_identifier) @name
    (qualified_type name: (_) @name)
    (generic_type type: [(type_identifier) @name (qualified_type name: (_) @name)])
  ]) @field))
