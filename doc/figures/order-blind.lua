-- order-blind.lua: the attention weights of chapter 1's example as areas, once with the keys
-- in order and once shuffled. The outputs beside the rows are the same.

local svg = dofile(arg[0]:match("^.*/") .. "svg.lua")
local d = svg.new(720, 316)

local weights = {{2, 1, 2, 1}, {1, 4, 4, 1}, {4, 2, 8, 1}, {1, 1, 1, 1}} -- powers of 2
local values = {0, 30, 60, 150}
local CELL, TOP = 52, 76

local function output(row)
  local num, den = 0, 0
  for j, value in ipairs(values) do
    num, den = num + row[j] * value, den + row[j]
  end
  return num / den, den
end

local function square(x, y, weight)
  local side = (CELL - 4) * math.sqrt(weight)
  d:rect(x + (CELL - side) / 2, y + (CELL - side) / 2, side, side, "a")
end

local function grid(left, order, title)
  d:text(left + 2 * CELL, 22, title, {size = 14, bold = true})
  for column, j in ipairs(order) do
    local x = left + (column - 0.5) * CELL
    d:text(x, 46, "k" .. j, {italic = true})
    d:text(x, 64, tostring(values[j]), {size = 12})
  end
  for i, row in ipairs(weights) do
    local y = TOP + (i - 1) * CELL
    local out, den = output(row)
    d:text(left - 14, y + CELL / 2 + 5, "q" .. i, {italic = true, anchor = "end"})
    for column, j in ipairs(order) do
      local x = left + (column - 1) * CELL
      d:rect(x, y, CELL, CELL, "off")
      square(x, y, row[j] / den)
    end
    d:text(left + 4 * CELL + 14, y + CELL / 2 + 5, ("= %.0f"):format(out), {anchor = "start"})
  end
end

grid(54, {1, 2, 3, 4}, "keys in order")
grid(416, {3, 1, 4, 2}, "keys 3, 1, 4, 2")
d:text(360, 306, "values stand below their keys; area = weight; each row of squares adds up to 1")
d:write(arg[1])
