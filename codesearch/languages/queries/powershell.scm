(function_statement (function_name) @name (script_block)? @body) @function
(command (command_name) @_word (command_elements (generic_token) @name
  (array_literal_expression (unary_expression (script_block_expression (script_block) @body))))
  (#match? @_word "^[Cc]onfiguration$")) @function
(command (command_name) @_word (command_elements . (command_argument_sep) . (array_literal_expression (unary_expression (string_literal) @name))
  (array_literal_expression (unary_expression (script_block_expression (script_block) @body))))
  (#match? @_word "^[Ii]t$")) @function @test
(class_statement . (simple_name) @name) @class
(class_method_definition (simple_name) @name (script_block)? @body) @method
(enum_statement . (simple_name) @name) @enum
(function_statement (function_name) . (comment) @docstring . (script_block) (#match? @docstring "^<#"))
(comment) @comment
(class_property_definition (variable) @name) @field
(enum_member (simple_name) @name) @field
