local sizes = {
  a = 1,
}
M.names = {
  "a",
}
require("shop")
run(1)
run(2)
run(3)
