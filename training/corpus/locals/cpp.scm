(identifier) @variable

(parameter_declaration declarator: (identifier) @local)
(declaration declarator: (identifier) @local)
(init_declarator declarator: (identifier) @local)
(pointer_declarator declarator: (identifier) @local)
(array_declarator declarator: (identifier) @local)
(optional_parameter_declaration declarator: (identifier) @local)
(reference_declarator (identifier) @local)
(variadic_declarator (identifier) @local)
(structured_binding_declarator (identifier) @local)
(lambda_capture_initializer left: (identifier) @local)
(for_range_loop declarator: (identifier) @local)

(qualified_identifier name: (identifier) @other)
