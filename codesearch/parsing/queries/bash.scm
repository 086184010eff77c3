(function_definition name: (word) @name body: (_) @body) @function
(program (variable_assignment name: (variable_name) @name value: (array)) @constant)
(program (declaration_command (variable_assignment name: (variable_name) @name value: (array))) @constant)
(comment) @comment
