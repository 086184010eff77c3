(method name: (_) @name) @method
(singleton_method object: (_) @receiver name: (_) @name) @method
(class name: (_) @name body: (body_statement)? @body) @class
(module name: (_) @name body: (body_statement)? @body) @class
(comment) @comment
