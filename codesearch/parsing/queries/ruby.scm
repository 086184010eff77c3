(method name: (_) @name body: (_)? @body) @method
(singleton_method object: (_) @receiver name: (_) @name body: (_)? @body) @method
(class name: (_) @name body: (body_statement)? @body) @class
(module name: (_) @name body: (body_statement)? @body) @class
(assignment left: (constant) @name right: [
    (array) @table (hash) @table (string_array) @table (symbol_array) @table
    (call receiver: [(array) (hash) (string_array) (symbol_array)] @table)
  ]) @constant
(assignment left: (constant) @name right: (_)) @constant
(call method: (identifier) @call arguments: (argument_list . (simple_symbol) @name) block: (_ body: (_) @body)
  (#eq? @call "define_method")) @method
(assignment left: (constant) @name right: (lambda body: (_) @body) @function)
(comment) @comment
