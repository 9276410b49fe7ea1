-- chunks.lua: the causal weights of 16 tokens in chunks of 4: pairs inside, states outside.

local svg = dofile(arg[0]:match("^.*/") .. "svg.lua")
local N, L, CELL, LEFT, TOP = 16, 4, 21, 96, 44
local d = svg.new(720, TOP + N * CELL + 12)
local start = {anchor = "start", size = 14}

local function x_of(j) return LEFT + (j - 1) * CELL end
local function y_of(i) return TOP + (i - 1) * CELL end

-- A pair that is computed: a box with a diamond in it.
local function pair(x, y)
  local middle, r = CELL / 2, 4
  d:rect(x, y, CELL, CELL, "a")
  d:polygon({x + middle - r, y + middle, x + middle, y + middle - r, x + middle + r, y + middle,
    x + middle, y + middle + r}, "dark")
end

-- What a chunk gets from all earlier ones.
local function state(n, side)
  local width, y = (n - 1) * side, y_of((n - 1) * L + 1)
  d:box(LEFT, y, width, side, "b", "E" .. n, {size = 16, italic = true})
end

d:text(LEFT + N * CELL / 2, 18, "keys", {size = 14})
for n = 1, N // L do
  local first, side = (n - 1) * L + 1, L * CELL
  d:text(x_of(first) + side / 2, 36, "chunk " .. n)
  d:text(LEFT - 10, y_of(first) + side / 2 + 5, "queries " .. n, {anchor = "end"})
  if n > 1 then state(n, side) end
  for i = first, first + L - 1 do
    for j = first, i do pair(x_of(j), y_of(i)) end
  end
end

local legend = LEFT + N * CELL + 34
pair(legend, 110)
d:text(legend + 32, 126, "a pair within a chunk:", start)
d:text(legend + 32, 146, "L (L + 1) / 2 of them a chunk", start)
d:rect(legend, 184, CELL, CELL, "b")
d:text(legend + 32, 200, "all earlier chunks:", start)
d:text(legend + 32, 220, "one state, C M + C numbers", start)
for n, sum in ipairs {"T1", "T1 + T2", "T1 + T2 + T3"} do
  d:text(legend, 244 + 22 * n, ("E%d = %s"):format(n + 1, sum), start)
end
d:write(arg[1])
