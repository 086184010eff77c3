local M = {}

--- Add two numbers.
-- @param a the first
function M.add(a, b)
  return a + b
end

-- Get by key.
function M.sub:get(key)
  -- Looks it up.
  local function inner() end
  return self[key]
end

--[[ Multiply
two numbers. ]]
M.mul = function(a, b)
  return a * b
end

local div = function(a, b) return a / b end

local handlers = { run = function(x)
  return x
end }

on("exit", function(code)
  close()
  log(code)
end)
