(class_definition name: (identifier) @name body: (_) @body) @class
(mixin_declaration (identifier) @name (class_body) @body) @class
(extension_declaration name: (identifier) @name body: (_) @body) @class
(extension_type_declaration name: (identifier) @name body: (_) @body) @class
(extension_declaration !name class: (type_identifier) @name body: (_) @body) @owner
(enum_declaration name: (identifier) @name body: (_) @body) @enum
(type_alias . (type_identifier) @name . [(type_parameters) "="]) @type
(type_alias (type_identifier) . (type_identifier) @name . (formal_parameter_list)) @type
(program (function_signature name: (identifier) @name) @function)

; The body of a function is beside its signature.
((method_signature [
    (function_signature name: (identifier) @name)
    (getter_signature name: (identifier) @name)
    (setter_signature name: (identifier) @name)
    (constructor_signature . name: (identifier) @name . (formal_parameter_list))
    (constructor_signature . name: (identifier) . name: (identifier) @name)
    (factory_constructor_signature . (identifier) . (identifier) @name)
    (factory_constructor_signature . (identifier) @name . (formal_parameter_list))
    (operator_signature [(binary_operator) "[]" "[]=" "~"] @name)
  ]) @method . (function_body) @body)
(declaration [
    (function_signature name: (identifier) @name)
    (getter_signature name: (identifier) @name)
    (setter_signature name: (identifier) @name)
    (constructor_signature . name: (identifier) @name . (formal_parameter_list))
    (constructor_signature . name: (identifier) . name: (identifier) @name)
    (constant_constructor_signature (identifier) @name . (formal_parameter_list))
    (redirecting_factory_constructor_signature (identifier) @name . (formal_parameter_list))
  ]) @method
((function_signature name: (identifier) @name) @function . (function_body) @body)
((getter_signature name: (identifier) @name) @function . (function_body) @body)
((setter_signature name: (identifier) @name) @function . (function_body) @body)
(program [
  (static_final_declaration_list (static_final_declaration . (identifier) @name))
  (initialized_identifier_list (initialized_identifier . (identifier) @name))
] @constant)

(static_final_declaration (identifier) @name (function_expression body: (_) @body) @function)
(initialized_identifier (identifier) @name (function_expression body: (_) @body) @function)
(class_body (declaration (static_final_declaration_list (static_final_declaration (identifier) @name (_)))) @constant)
(class_body (declaration (initialized_identifier_list (initialized_identifier (identifier) @name (_)))) @constant)
(expression_statement (identifier) @_call (selector (argument_part (arguments . (argument (string_literal) @name)
  . (argument (function_expression body: (_) @body)))))
  (#any-of? @_call "test" "testWidgets")) @function @test

(method_signature [(getter_signature) (setter_signature)]) @accessor
(declaration [(getter_signature) (setter_signature)]) @accessor
(annotation) @attribute
(documentation_comment) @comment
(comment) @comment
(declaration (initialized_identifier_list (initialized_identifier . (identifier) @name))) @field
(declaration (static_final_declaration_list (static_final_declaration . (identifier) @name))) @field
(enum_constant name: (identifier) @name) @field
