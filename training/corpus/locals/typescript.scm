[(identifier) (shorthand_property_identifier) (shorthand_property_identifier_pattern)] @variable
(shorthand_property_identifier) @shorthand
(shorthand_property_identifier_pattern) @shorthand @local

(required_parameter pattern: (identifier) @local)
(optional_parameter pattern: (identifier) @local)
(assignment_pattern left: (identifier) @local)
(rest_pattern (identifier) @local)
(array_pattern (identifier) @local)
(pair_pattern value: (identifier) @local)
(arrow_function parameter: (identifier) @local)
(variable_declarator name: (identifier) @local)
(for_in_statement kind: _ left: (identifier) @local)
(catch_clause parameter: (identifier) @local)

(function_declaration name: (identifier) @fixed)
(generator_function_declaration name: (identifier) @fixed)
(class_declaration name: (type_identifier) @fixed)
