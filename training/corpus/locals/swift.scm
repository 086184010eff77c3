(simple_identifier) @variable

(parameter name: (simple_identifier) @local)
(lambda_parameter name: (simple_identifier) @local)
(pattern bound_identifier: (simple_identifier) @local)
(pattern (pattern (simple_identifier) @local))
(if_statement bound_identifier: (simple_identifier) @local)
(guard_statement bound_identifier: (simple_identifier) @local)
(while_statement bound_identifier: (simple_identifier) @local)

(function_declaration name: (simple_identifier) @fixed)

(parameter external_name: (simple_identifier) @other)
(navigation_suffix suffix: (simple_identifier) @other)
(value_argument_label (simple_identifier) @other)
