(function_definition name: (identifier) @name body: (block) @body) @function
(class_definition name: (identifier) @name body: (block) @body) @class
(block . (expression_statement (string) @docstring))
(block . (comment) . (expression_statement (string) @docstring))
(decorator) @attribute
(comment) @comment
