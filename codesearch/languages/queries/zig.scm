(function_declaration name: (identifier) @name body: (block)? @body) @function
(test_declaration [(string) (identifier)]? @name (block) @body) @function @test

(variable_declaration (identifier) @name (struct_declaration) @body) @struct
(variable_declaration (identifier) @name (opaque_declaration) @body) @struct
(variable_declaration (identifier) @name (union_declaration) @body) @struct
(variable_declaration (identifier) @name (enum_declaration) @body) @enum
(variable_declaration (identifier) @name (error_set_declaration) @body) @enum
((source_file (variable_declaration . (identifier) @name) @constant) (#not-match? @constant "= *@import"))

(return_expression [(struct_declaration) (union_declaration) (enum_declaration)] @owner)
(comment) @comment
(container_field name: (identifier) @name) @field
([(struct_declaration (variable_declaration . (identifier) @name) @field)
  (enum_declaration (variable_declaration . (identifier) @name) @field)
  (union_declaration (variable_declaration . (identifier) @name) @field)] (#not-match? @field "= *@(import|This)"))
