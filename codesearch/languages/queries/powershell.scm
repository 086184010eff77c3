(function_statement (function_name) @name (script_block) @body) @function
(class_statement . (simple_name) @name) @class
(class_method_definition (simple_name) @name (script_block)? @body) @method
(enum_statement . (simple_name) @name) @enum
(function_statement (function_name) . (comment) @docstring . (script_block) (#match? @docstring "^<#"))
(comment) @comment
(class_property_definition (variable) @name) @field
(enum_member (simple_name) @name) @field
