-- staircase.lua: the causal mask of eight tokens, and two ways to sum its rows: pair by pair,
-- and by a running sum.

local svg = dofile(arg[0]:match("^.*/") .. "svg.lua")
local d = svg.new(720, 290)
local N, CELL, TOP = 8, 22, 62

-- The square of all pairs. With `running`, what the rows above have summed is one bar.
local function square(left, running, title, below)
  local middle = left + N * CELL / 2
  d:text(middle, 24, title, {size = 14, bold = true})
  d:text(middle, TOP - 10, "keys j", {size = 12})
  d:text(left - 30, TOP - 10, "query i", {size = 12})
  for i = 1, N do
    local y, before = TOP + (i - 1) * CELL, running and i - 1 or 0
    d:text(left - 8, y + 16, tostring(i), {size = 12, anchor = "end"})
    if before > 0 then
      d:box(left, y, before * CELL, CELL, "b", before > 1 and "S, z" or "S", {size = 11})
    end
    for j = before + 1, N do
      d:rect(left + (j - 1) * CELL, y, CELL, CELL, j <= i and "a" or "off")
    end
  end
  for n, line in ipairs(below) do d:text(middle, TOP + N * CELL + 4 + 18 * n, line) end
end

square(120, false, "pair by pair", {"36 similarities:", "N (N + 1) / 2 of them"})
square(440, true, "a running sum", {"8 terms are added,", "8 times the state is read"})
d:write(arg[1])
