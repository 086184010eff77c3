[(identifier) (implicit_parameter)] @variable

(parameter name: (identifier) @local)
(parameter_list name: (identifier) @local)
(implicit_parameter) @local
(local_declaration_statement (variable_declaration (variable_declarator name: (identifier) @local)))
(using_statement (variable_declaration (variable_declarator name: (identifier) @local)))
(for_statement (variable_declaration (variable_declarator name: (identifier) @local)))
(foreach_statement left: (identifier) @local)
(catch_declaration name: (identifier) @local)
(declaration_pattern name: (identifier) @local)
(declaration_expression name: (identifier) @local)
(tuple_pattern name: (identifier) @local)
(from_clause name: (identifier) @local)

(local_function_statement name: (identifier) @fixed)

(_ type: (identifier) @other)
(_ returns: (identifier) @other)
(generic_name . (identifier) @other)
(type_argument_list (identifier) @other)
(qualified_name (identifier) @other)
(member_access_expression name: (identifier) @other)
(argument name: (identifier) @other)
(method_declaration name: (identifier) @other)
(labeled_statement . (identifier) @other)
(goto_statement (identifier) @other)
(initializer_expression (assignment_expression left: (identifier) @other))
