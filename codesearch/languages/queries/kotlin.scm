; The grammar at times takes an extension's name for a part of its receiver's type: `String.shout`.
(function_declaration (user_type) @name . name: (MISSING identifier) (function_body)? @body) @function
(function_declaration [(user_type) (nullable_type) (parenthesized_type)] @receiver . name: (identifier) @name (function_body)? @body) @function
(function_declaration name: (identifier) @name (function_body)? @body) @function
(secondary_constructor "constructor" @name (block)? @body) @method
(anonymous_initializer "init" @name (_) @body) @method
(property_declaration (user_type) @name . (variable_declaration . (MISSING identifier)) [(getter (function_body) @body) (setter (function_body) @body)]) @function
(property_declaration [(user_type) (nullable_type)]? @receiver . (variable_declaration (identifier) @name) [(getter (function_body) @body) (setter (function_body) @body)]) @function

(class_declaration name: (identifier) @name [(class_body) (enum_class_body)]? @body) @class
(class_declaration "interface" name: (identifier) @name) @interface
(class_declaration name: (identifier) @name (enum_class_body)) @enum
(type_alias type: (identifier) @name) @type
(source_file (property_declaration (variable_declaration (identifier) @name)) @constant)
(class_body (property_declaration (variable_declaration (identifier) @name) ["=" (property_delegate)]) @constant)
(enum_class_body (property_declaration (variable_declaration (identifier) @name) ["=" (property_delegate)]) @constant)
(object_declaration name: (identifier) @name (class_body)? @body) @class
(companion_object !name) @owner
(companion_object name: (identifier) @name (class_body)? @body) @class

(property_declaration (variable_declaration (identifier) @name) (object_literal) @owner)
(object_literal) @owner

; each: source_file class_body
(EACH (property_declaration (multi_variable_declaration (variable_declaration (identifier) @name))) @field)

(annotation) @attribute
(source_file (annotated_expression) @attribute)
(line_comment) @comment
(block_comment) @comment
(class_body (property_declaration (variable_declaration (identifier) @name)) @field)
(enum_class_body (property_declaration (variable_declaration (identifier) @name)) @field)
(enum_entry (identifier) @name) @field
(class_parameter ["val" "var"] (identifier) @name) @field
