(identifier) @variable

(parameter name: (identifier) @local)
(binding name: (identifier) @local)
(lambda_expression parameters: (identifier) @local)
(val_definition pattern: (identifier) @local)
(var_definition pattern: (identifier) @local)
(tuple_pattern (identifier) @local)
(enumerator . (identifier) @local)
((case_clause pattern: (identifier) @local) (#match? @local "^[a-z_]"))
((case_class_pattern pattern: (identifier) @local) (#match? @local "^[a-z_]"))
(typed_pattern pattern: (identifier) @local)
(capture_pattern name: (identifier) @local)

(function_definition name: (identifier) @fixed)
((identifier) @fixed (#eq? @fixed "this"))

(field_expression field: (identifier) @other)
(infix_expression operator: (identifier) @other)
(arguments (assignment_expression left: (identifier) @other))
(interpolated_string_expression interpolator: (identifier) @other)
