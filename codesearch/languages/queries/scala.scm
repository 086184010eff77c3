(function_definition name: (_) @name body: (_) @body) @function
(function_declaration name: (_) @name) @function

(class_definition name: (_) @name body: (template_body)? @body) @class
(trait_definition name: (_) @name body: (template_body)? @body) @trait
(object_definition name: (_) @name body: (template_body)? @body) @class
(package_object name: (_) @name body: (template_body) @body) @class
(enum_definition name: (_) @name body: (enum_body) @body) @enum
(type_definition name: (type_identifier) @name) @type
(compilation_unit (val_definition pattern: (identifier) @name) @constant)
(template_body (val_definition pattern: (identifier) @name) @constant)
(template_body (var_definition pattern: (identifier) @name) @constant)
(call_expression function: (call_expression function: (identifier) @_call arguments: (arguments . (string) @name))
  arguments: (block) @body (#any-of? @_call "test" "property")) @function @test

(instance_expression (template_body) @owner)

; each: compilation_unit template_body
(EACH (val_definition pattern: (tuple_pattern (identifier) @name)) @field)

(given_definition name: (_) @name body: (_) @body) @class
(given_definition !name return_type: (type_identifier) @name) @owner
(given_definition !name return_type: (generic_type type: (type_identifier) @name)) @owner
(extension_definition parameters: (parameters . (parameter type: [
    (type_identifier) @name
    (generic_type type: (type_identifier) @name)
  ]))) @owner

(val_definition pattern: (identifier) @name value: (instance_expression (template_body) @owner))
(annotation) @attribute
(comment) @comment
(block_comment) @comment
(template_body [
    (val_definition pattern: (identifier) @name) (var_definition pattern: (identifier) @name)
    (val_declaration name: (identifier) @name) (var_declaration name: (identifier) @name)
  ] @field)
(simple_enum_case name: (_) @name) @field
(full_enum_case name: (_) @name) @field
(class_parameter ["val" "var"] name: (_) @name) @field
(class_definition "case" class_parameters: (class_parameters (class_parameter name: (_) @name) @field))
