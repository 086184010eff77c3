(identifier) @variable

(method_parameters (identifier) @local)
(block_parameters (identifier) @local)
(lambda_parameters (identifier) @local)
(optional_parameter name: (identifier) @local)
(splat_parameter name: (identifier) @local)
(hash_splat_parameter name: (identifier) @local)
(keyword_parameter name: (identifier) @local)
(block_parameter name: (identifier) @local)
(destructured_parameter (identifier) @local)
(assignment left: (identifier) @local)
(operator_assignment left: (identifier) @local)
(left_assignment_list (identifier) @local)
(destructured_left_assignment (identifier) @local)
(rest_assignment (identifier) @local)
(for pattern: (identifier) @local)
(exception_variable (identifier) @local)
(array_pattern (identifier) @local)
(keyword_pattern value: (identifier) @local)
(keyword_pattern !value) @shorthand @local @variable
(pair !value) @shorthand @variable

(call method: (identifier) @other @callee)
(method name: (identifier) @fixed)
