(function_definition name: (word) @name body: (_) @body) @function
(comment) @comment
