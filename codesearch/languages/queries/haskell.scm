((declarations (function name: (_) @name match: (_) @body) @function) (#set! joins "clauses"))
(declarations (function (infix operator: (_) @name) match: (_) @body) @function)
(declarations (bind name: (variable) @name match: (_) @body) @function)
(class_declarations (function name: (_) @name match: (_) @body) @function)
(class_declarations (signature name: (_) @name) @function)
(class_declarations (signature names: (binding_list name: (_) @name @function)))
(foreign_import signature: (signature name: (_) @name)) @function
(instance_declarations (function name: (_) @name match: (_) @body) @function)
(instance_declarations (bind name: (variable) @name match: (_) @body) @function)

(data_type name: (_) @name) @type
(newtype name: (_) @name) @type
(type_synonym name: (_) @name) @type
(pattern_synonym (equation synonym: [
    (apply function: [(constructor) @name (apply function: [(constructor) @name (apply function: (constructor) @name)])])
    (constructor) @name (infix operator: (_) @name) (record name: (constructor) @name)
  ])) @function
(type_family name: (_) @name) @type
(data_family name: (_) @name) @type
(class name: (_) @name declarations: (_) @body) @interface
(instance name: (_) @name) @owner

(declarations (signature) @attribute)
(instance_declarations (signature) @attribute)
(pattern_synonym (signature) @attribute)
(haddock) @comment
(comment) @comment
(field name: (field_name (variable) @name)) @field
(data_constructor constructor: (_ name: (_) @name)) @field
(newtype_constructor name: (_) @name) @field
(gadt_constructor name: (_) @name) @field
