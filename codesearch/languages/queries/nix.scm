(binding attrpath: (attrpath) @name expression: (function_expression body: (_) @body)) @function
(comment) @comment
