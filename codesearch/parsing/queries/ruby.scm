(method name: (_) @name body: (_)? @body) @method
(singleton_method object: (_) @receiver name: (_) @name body: (_)? @body) @method
(class name: (_) @name body: (body_statement)? @body) @class
(module name: (_) @name body: (body_statement)? @body) @class
(comment) @comment
