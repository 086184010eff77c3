(function_declaration name: (identifier) @name body: (block)? @body) @function
(method_declaration receiver: (parameter_list) @receiver name: (field_identifier) @name body: (block)? @body) @method
(type_declaration "type" . (type_spec name: (type_identifier) @name type: [
    (struct_type (field_declaration_list) @body)
    (interface_type "{" @body)
  ])) @class
(type_declaration "(" (type_spec name: (type_identifier) @name type: [
    (struct_type (field_declaration_list) @body)
    (interface_type "{" @body)
  ]) @class)
(comment) @comment
