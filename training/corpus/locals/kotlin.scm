(identifier) @variable

(function_value_parameters (parameter . (identifier) @local))
(variable_declaration . (identifier) @local)
(catch_block . (identifier) @local)

(function_declaration name: (identifier) @fixed)

(user_type (identifier) @other)
(navigation_expression (_) (identifier) @other)
(value_argument . (identifier) @other . "=")
(labeled_expression (identifier) @other)
