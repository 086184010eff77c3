(function_declaration "func" . name: _ @name body: (function_body) @body) @function
(macro_declaration "macro" . (simple_identifier) @name (macro_definition)? @body) @function
(protocol_function_declaration "func" . name: _ @name) @method
(init_declaration name: "init" @name body: (function_body)? @body) @method
(deinit_declaration "deinit" @name body: (function_body) @body) @method
(subscript_declaration "subscript" @name (computed_property)? @body) @method
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name)
  computed_value: (computed_property) @body) @function
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name) (willset_didset_block) @body) @function

(class_declaration name: (type_identifier) @name body: (_) @body) @class
(class_declaration "struct" name: (type_identifier) @name) @struct
(class_declaration "enum" name: (type_identifier) @name) @enum
(protocol_declaration name: (type_identifier) @name body: (protocol_body) @body) @interface
(typealias_declaration . name: (type_identifier) @name) @type
(source_file (property_declaration name: (pattern bound_identifier: (simple_identifier) @name) value: (_)) @constant)
(class_declaration body: (_ (property_declaration name: (pattern bound_identifier: (simple_identifier) @name) value: (_)) @constant))
(class_declaration name: (user_type) @name) @owner

(attribute) @attribute
(comment) @comment
(multiline_comment) @comment
(class_declaration body: (_ (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @field))
; each: source_file class_body
(EACH (property_declaration name: (pattern (pattern (simple_identifier) @name))) @field)

(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @field
(associatedtype_declaration name: (type_identifier) @name) @field
(enum_entry name: (simple_identifier) @name) @field
