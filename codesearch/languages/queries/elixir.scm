(call target: (identifier) @_word
  (arguments . [
    (identifier) @name
    (call target: (_) @name)
    (binary_operator left: [(identifier) @name (call target: (_) @name)] operator: "when")
  ])
  (do_block)? @body
  (#match? @_word "^def([a-ln-z]|m[^o]|$)") (#set! joins "clauses")) @function
(call target: (identifier) @_word
  (arguments . [
    (binary_operator left: (_) operator: _ @name right: (_))
    (binary_operator left: (binary_operator operator: _ @name) operator: "when")
    (unary_operator operator: _ @name)
  ])
  (do_block)? @body
  (#any-of? @_word "def" "defp" "defmacro" "defmacrop") (#not-match? @name "^when$")) @function
(call target: (identifier) @_word (arguments . (string) @name) (do_block) @body (#any-of? @_word "test" "property")) @function @test
(unary_operator operand: (call target: (identifier) @_word (arguments . (binary_operator left: [(identifier) @name (call target: (identifier) @name)])))
  (#any-of? @_word "callback" "macrocallback")) @method

(call target: (identifier) @_word (arguments . (alias) @name) (do_block) @body (#eq? @_word "defmodule")) @class
(call target: (identifier) @_word (arguments . (alias) @name) (do_block) @body (#eq? @_word "defprotocol")) @interface
(call target: (identifier) @_word (arguments . (alias) @name) (#eq? @_word "defimpl")) @owner
(unary_operator operand: (call target: (identifier) @name (arguments (_)))
  (#not-match? @name "^((module|type)?doc|spec|(macro)?callback|typep?|opaque|impl|since|deprecated|behaviour|derive|(describe|module)?tag|compile|dialyzer|on_load|on_definition|(before|after)_compile|external_resource|optional_callbacks)$")) @constant
(unary_operator operand: (call target: (identifier) @_word (arguments (binary_operator left: [
    (identifier) @name
    (call target: (identifier) @name)
  ])))
  (#any-of? @_word "type" "typep" "opaque")) @type

(unary_operator operand: (call target: (identifier) @_word (arguments (string) @docstring))
  (#eq? @_word "moduledoc"))
(unary_operator operand: (call target: (identifier) @_word (arguments [(string) (sigil)]))
  (#any-of? @_word "doc" "typedoc")) @comment
(unary_operator operand: (call target: (identifier) @_word)
  (#any-of? @_word "spec" "impl" "since" "deprecated")) @attribute
(comment) @comment
(call target: (identifier) @_word (arguments [
    (list (atom) @name @field)
    (list (keywords (pair key: (keyword) @name) @field))
    (keywords (pair key: (keyword) @name) @field)
  ]) (#eq? @_word "defstruct"))
