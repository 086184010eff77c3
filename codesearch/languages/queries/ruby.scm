(method name: (_) @name body: (_)? @body) @method
(singleton_method object: (_) @receiver name: (_) @name body: (_)? @body) @method
(class name: (_) @name body: (body_statement)? @body) @class
(module name: (_) @name body: (body_statement)? @body) @class
(assignment left: (constant) @name right: (_)) @constant
(assignment left: [(constant) (scope_resolution)] @name right: (call receiver: (constant) @_base method: (identifier) @_make block: (_ body: (_) @body)?)
  (#any-of? @_base "Class" "Data" "Module" "Struct") (#any-of? @_make "define" "new")) @class
((call receiver: [
    (constant) @name (scope_resolution) @name
    (call receiver: [(constant) (scope_resolution)] @name method: (identifier) @_single)
  ] method: (identifier) @_call block: (_)) @owner (#eq? @_single "singleton_class")
  (#any-of? @_call "class_eval" "class_exec" "module_eval" "module_exec" "instance_eval" "instance_exec"))
(singleton_class value: [(constant) (scope_resolution)] @name) @owner
((call method: (identifier) @_call arguments: (argument_list . (constant) @name) block: (_)) @owner (#eq? @_call "refine"))
(assignment left: (constant) @name right: (call
  receiver: (call receiver: (constant) @_base method: (identifier) @_make block: (_)) @owner)
  (#eq? @_base "Class") (#eq? @_make "new"))
(call receiver: [
    (constant) @receiver (scope_resolution) @receiver (self)
    (call receiver: [(constant) (scope_resolution)] @receiver method: (identifier) @_call)
  ]? method: (identifier) @_call arguments: (argument_list . [(simple_symbol) (string)] @name) block: (_ body: (_)? @body)
  (#any-of? @_call "define_method" "define_singleton_method" "singleton_class")) @method
(call receiver: [(constant) (scope_resolution)] @receiver method: (identifier) @_call
  arguments: (argument_list . (simple_symbol) @_call . [(simple_symbol) (string)] @name) block: (_ body: (_)? @body)
  (#any-of? @_call "send" "public_send" "__send__" ":define_method" ":define_singleton_method")) @method
(call !receiver method: (identifier) @_call arguments: (argument_list . (string) @name) block: (_ body: (_) @body)
  (#any-of? @_call "it" "specify" "example" "scenario" "test" "should")) @function @test
(assignment left: (constant) @name right: (lambda body: (_) @body) @function)
(comment) @comment
(call method: (identifier) @_call arguments: (argument_list (simple_symbol) @name)
  (#any-of? @_call "attr_accessor" "attr_reader" "attr_writer")) @field
(assignment right: (call receiver: (constant) @_base arguments: (argument_list (simple_symbol) @name) @field)
  (#any-of? @_base "Data" "Struct"))
(alias name: (_) @name) @field
(call method: (identifier) @_call arguments: (argument_list . (simple_symbol) @name) (#eq? @_call "alias_method")) @field
(call !receiver method: (identifier) @_call arguments: (argument_list . [(simple_symbol) @name (string) @name (pair key: (hash_key_symbol) @name)])
  (#any-of? @_call "belongs_to" "has_many" "has_one" "has_and_belongs_to_many" "has_one_attached" "has_many_attached" "scope" "enum"
    "attribute" "store_accessor" "field" "embeds_many" "embeds_one" "embedded_in")) @field
