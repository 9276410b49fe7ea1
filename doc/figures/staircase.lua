-- staircase.lua: the causal mask of eight tokens, and three ways to sum its rows: pair by
-- pair, through the running state, and in chunks of four.

local svg = dofile(arg[0]:match("^.*/") .. "svg.lua")
local d = svg.new(720, 290)
local N, CELL, TOP = 8, 22, 62

-- The square of all pairs: pairs within a chunk of L tokens are drawn one by one; those with
-- keys of earlier chunks are one bar for each query.
local function square(left, L, title, below)
  d:text(left + N * CELL / 2, 24, title, {size = 14, bold = true})
  d:text(left + N * CELL / 2, TOP - 10, "keys j", {size = 12})
  for i = 1, N do
    local y, before = TOP + (i - 1) * CELL, (i - 1) // L * L
    if before > 0 then
      d:rect(left, y, before * CELL, CELL, "b")
      d:text(left + before * CELL / 2, y + 15, before > 1 and "S, z" or "S", {size = 11})
    end
    for j = before + 1, N do
      d:rect(left + (j - 1) * CELL, y, CELL, CELL, j <= i and "a" or "off")
    end
  end
  for n, line in ipairs(below) do
    d:text(left + N * CELL / 2, TOP + N * CELL + 4 + 18 * n, line, {size = 12})
  end
end

square(44, N, "all pairs", {"N (N + 1) / 2 pairs", "no state"})
square(276, 1, "one by one, L = 1", {"a query asks the state", "once its token is in it"})
square(508, 4, "in chunks, L = 4", {"before the chunk: the state;", "inside: pair by pair"})
for i = 1, N do d:text(36, TOP + i * CELL - 6, tostring(i), {size = 12, anchor = "end"}) end
d:text(14, TOP - 10, "query i", {size = 12, anchor = "start"})
d:write(arg[1])
