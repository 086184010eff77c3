local M = {}

M["resume"] = function(x)
  return x
end

local handlers = {
  open = function(self, a)
    return a + 1
  end,
  ["shut"] = function()
    return 2
  end,
  sub = { go = function() return 1 end },
}
M.names = { f = function() end }
function M.start(n)
  return n
end
M.first, M.second = function() end, function() end
return { last = function() end }
local VERSION, NAME = "1", "x"
