; Every variable of a function is local, except those of `global` and the predefined ones.
(variable_name (name) @variable @local)

(global_declaration (variable_name (name) @fixed))
((variable_name (name) @fixed)
  (#match? @fixed "^(this|GLOBALS|argc|argv|_(SERVER|GET|POST|FILES|COOKIE|SESSION|REQUEST|ENV))$"))

(scoped_property_access_expression name: (variable_name (name) @other))
