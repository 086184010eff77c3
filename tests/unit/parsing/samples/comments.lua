-- Sort it.
function f1() return 1 end

--- Sort it.
-- @param x a list
function f2() return 1 end

--[[ Sort
it. ]]
function f3() return 1 end

--[==[ Sort it. ]==]
function f4() return 1 end

--------
function f5() return 1 end
