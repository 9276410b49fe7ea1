-- register-tile.lua: one row of the state, loaded once, goes through four tokens in order.

local svg = dofile(arg[0]:match("^.*/") .. "svg.lua")
local d = svg.new(720, 300)
local small = {size = 12}

-- The state: rows of memory, of which one is under way.
d:text(68, 40, "S in memory", {size = 14})
for c = 1, 8 do d:rect(16, 40 + c * 18, 104, 18) end
d:box(16, 94, 104, 18, "b", "row c", small)
d:text(68, 222, "C rows of V vectors", small)

-- The tokens, whose values and outputs stay where they are.
for t = 1, 4 do
  local x = 176 + (t - 1) * 130
  d:rect(x, 52, 106, 114)
  d:text(x + 53, 40, "token " .. t, {size = 14})
  d:box(x + 10, 62, 86, 20, "a", "values", small)
  d:box(x + 10, 92, 86, 20, "b", "row += k v", small)
  d:box(x + 10, 122, 86, 20, "a", "out += q row", small)
  d:text(x + 53, 160, "2V multiply-adds", {size = 11})
  d:arrow(x + 32, 206, x + 32, 170)
  d:arrow(x + 74, 206, x + 74, 170)
  d:text(x + 32, 222, ("k%dc"):format(t), small)
  d:text(x + 74, 222, ("q%dc"):format(t), small)
  if t < 4 then d:arrow(x + 96, 102, x + 140, 102) end
end
d:arrow(120, 102, 186, 102)
d:text(148, 94, "load", small)

-- Back to memory.
d:line(662, 102, 700, 102)
d:line(700, 102, 700, 250)
d:line(700, 250, 6, 250)
d:line(6, 250, 6, 103)
d:arrow(6, 103, 16, 103)
d:text(360, 244, "store", small)
d:text(16, 284, "Tinted boxes are registers. A row costs V + 2T loads and V stores for 2TV multiply-adds.",
  {anchor = "start"})
d:write(arg[1])
