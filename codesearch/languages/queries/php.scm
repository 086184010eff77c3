(function_definition name: (name) @name body: (compound_statement) @body) @function
(method_declaration name: (name) @name body: (compound_statement)? @body) @method
(class_declaration name: (name) @name body: (declaration_list) @body) @class
(interface_declaration name: (name) @name body: (declaration_list) @body) @interface
(trait_declaration name: (name) @name body: (declaration_list) @body) @trait
(enum_declaration name: (name) @name body: (enum_declaration_list) @body) @enum
(property_declaration (property_element name: (variable_name (name) @name)) (property_hook_list) @body) @method
(property_promotion_parameter name: (variable_name (name) @name) (property_hook_list) @body) @method
(program (expression_statement (assignment_expression left: (variable_name (name) @name)
  right: [(anonymous_function body: (_) @body) (arrow_function body: (_) @body)])) @function)
(program (return_statement (object_creation_expression (anonymous_class body: (_) @body)) @class))
(assignment_expression left: (variable_name (name) @name) right: (object_creation_expression (anonymous_class body: (_) @body) @class))
(anonymous_class) @owner
(const_declaration (const_element . (name) @name)) @constant
(property_declaration (static_modifier) (property_element name: (variable_name (name) @name) default_value: (_))) @constant
(program (expression_statement (assignment_expression left: (variable_name (name) @name) right: (array_creation_expression))) @constant)
(program (return_statement (array_creation_expression)) @constant)
(attribute_list) @attribute
(comment) @comment
(anonymous_function body: (_) @body) @anonymous
(property_declaration (property_element name: (variable_name (name) @name))) @field
((function_call_expression function: (name) @_call arguments: (arguments . (argument (_ (string_content) @name)))) @field
  (#eq? @_call "define"))
(enum_case name: (name) @name) @field
(property_promotion_parameter name: (variable_name (name) @name)) @field
