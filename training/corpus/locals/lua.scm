(identifier) @variable

(parameters name: (identifier) @local)
(variable_declaration (variable_list name: (identifier) @local))
(variable_declaration (assignment_statement (variable_list name: (identifier) @local)))
(for_numeric_clause name: (identifier) @local)
(for_generic_clause (variable_list name: (identifier) @local))

(function_declaration name: (identifier) @fixed)

(dot_index_expression field: (identifier) @other)
(method_index_expression method: (identifier) @other)
(field . name: (identifier) @other . "=")
(attribute (identifier) @other)
