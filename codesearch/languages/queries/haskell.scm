; each: declarations class_declarations instance_declarations
((EACH (function name: (_) @name match: (_) @body) @function) (#set! joins "clauses"))
(EACH (function (infix operator: [(infix_id (_) @name) (_) @name]) match: (_) @body) @function)
(EACH (function parens: (function_head_parens (infix operator: [(infix_id (_) @name) (_) @name])) match: (_) @body) @function)
(EACH (bind name: (_) @name match: (_) @body) @function)

(class_declarations (signature name: (_) @name) @function)
(class_declarations (signature names: (binding_list name: (_) @name @function)))
(foreign_import signature: (signature name: (_) @name)) @function
; each: data_type newtype type_synonym type_family data_family
(EACH [name: (_) @name (infix operator: (_) @name)]) @type

(pattern_synonym (equation synonym: [
    (apply function: [(constructor) @name (apply function: [(constructor) @name (apply function: (constructor) @name)])])
    (constructor) @name (infix operator: (_) @name) (record name: (constructor) @name)
  ])) @function
(class [name: (_) @name (infix operator: (_) @name)] declarations: (_)? @body) @interface
(instance [name: (_) @name (infix operator: (_) @name)]) @owner

(declarations (signature) @attribute)
(instance_declarations (signature) @attribute)
(pattern_synonym (signature) @attribute)
(haddock) @comment
(comment) @comment
(field name: (field_name (variable) @name)) @field
(data_constructor constructor: (_ [name: (_) operator: (_)] @name)) @field
(declarations (bind pattern: (_ element: (variable) @name)) @field)
(newtype_constructor name: (_) @name) @field
(gadt_constructor name: (_) @name) @field
