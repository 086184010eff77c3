(function_definition name: (word) @name body: (_) @body) @function
(program (variable_assignment name: (variable_name) @name) @constant)
(program (declaration_command (variable_assignment name: (variable_name) @name)) @constant)
(comment) @comment
