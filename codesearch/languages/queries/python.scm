(function_definition name: (identifier) @name body: (block) @body) @function
(class_definition name: (identifier) @name body: (block) @body) @class
((class_definition superclasses: (argument_list [(identifier) (attribute)] @base)) @enum
  (#match? @base "(^|[.])(Int|Str|)(Enum|Flag)$"))
((class_definition superclasses: (argument_list [
    (identifier) @base (attribute) @base (subscript value: (_) @base)
  ])) @interface
  (#match? @base "(^|[.])Protocol$"))
(type_alias_statement left: (type [(identifier) @name (generic_type . (identifier) @name)])) @type
(module (expression_statement (assignment left: (identifier) @name right: (_))) @constant)
(module . (expression_statement (string) @docstring))
(module . (comment)+ . (expression_statement (string) @docstring))
(block . (expression_statement (string) @docstring))
(block . (comment) . (expression_statement (string) @docstring))
(decorated_definition (decorator (identifier) @_mark) definition: (function_definition) @accessor
  (#any-of? @_mark "property" "cached_property"))
(decorated_definition (decorator (attribute attribute: (identifier) @_mark)) definition: (function_definition) @accessor
  (#any-of? @_mark "setter" "getter" "deleter"))
((decorated_definition
    (decorator [(identifier) @_mark (attribute attribute: (identifier) @_mark)]) definition: (function_definition) @overload)
  (#eq? @_mark "overload"))
(decorator) @attribute
(comment) @comment
(module [
    (expression_statement (assignment left: (pattern_list (identifier) @name)) @field)
    (if_statement consequence: (block (expression_statement (assignment left: (identifier) @name) @field)))
    (try_statement body: (block (expression_statement (assignment left: (identifier) @name) @field)))
  ])
(class_definition body: (block (expression_statement (assignment left: [(identifier) @name (pattern_list (identifier) @name)]) @field)))
(expression_statement (assignment right: (assignment left: (identifier) @name) @field))
(class_definition body: (block (function_definition name: (identifier) @_init body: (block
  (expression_statement (assignment left: [
    (attribute object: (identifier) @_self attribute: (identifier) @name)
    (pattern_list (attribute object: (identifier) @_self attribute: (identifier) @name))
  ]) @field))))
  (#eq? @_init "__init__") (#eq? @_self "self"))
