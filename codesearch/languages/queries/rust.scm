(function_item name: (identifier) @name body: (block) @body) @function
(trait_item body: (declaration_list (function_signature_item name: (identifier) @name) @method))
(foreign_mod_item body: (declaration_list (function_signature_item name: (identifier) @name) @function))
(macro_definition name: (identifier) @name (macro_rule)? @body) @function

(struct_item name: (type_identifier) @name body: (field_declaration_list)? @body) @struct
(enum_item name: (type_identifier) @name body: (enum_variant_list) @body) @enum
(union_item name: (type_identifier) @name body: (field_declaration_list) @body) @struct
(trait_item name: (type_identifier) @name body: (declaration_list) @body) @trait
(source_file (type_item name: (type_identifier) @name) @type)
(mod_item body: (declaration_list (type_item name: (type_identifier) @name) @type))
(const_item name: (identifier) @name) @constant
(static_item name: (identifier) @name) @constant

(impl_item type: [
    (type_identifier) @name
    (primitive_type) @name
    (generic_type type: (type_identifier) @name)
    (generic_type type: (scoped_type_identifier name: (type_identifier) @name))
    (scoped_type_identifier name: (type_identifier) @name)
    (reference_type type: [(type_identifier) (primitive_type) (array_type)] @name)
    (reference_type type: (generic_type type: (type_identifier) @name))
    (array_type) @name
    (function_type) @name
    (tuple_type) @name
    (dynamic_type trait: (type_identifier) @name)
    (pointer_type type: (type_identifier) @name)
  ]) @owner
(mod_item name: (identifier) @name body: (declaration_list)) @scope

; It marks a test, or code that only tests have.
((attribute_item) @attribute
  (#set! tests "#\\[\\s*(?:(?:\\w+::)*(?:test|bench|rstest|test_case)\\b|cfg\\(\\s*(?:all\\(\\s*)?test\\b)"))
(line_comment !inner) @comment
(block_comment !inner) @comment
(field_declaration name: (field_identifier) @name) @field
(associated_type name: (type_identifier) @name) @field
(impl_item body: (declaration_list (type_item name: (type_identifier) @name) @field))
(enum_variant name: (identifier) @name) @field
