(variable_name) @variable
((command name: (command_name (word) @command) argument: (word) @variable)
  (#any-of? @command "read" "unset" "printf" "mapfile" "readarray"))

((declaration_command [(variable_name) @local (variable_assignment name: (variable_name) @local)]) @command
  (#match? @command "^(local|declare|typeset)"))
(for_statement variable: (variable_name) @local)
(command_name (word) @callee)
