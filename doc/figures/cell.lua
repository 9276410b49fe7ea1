-- cell.lua: attention as a recurrent cell, three tokens of it, and the cache of softmax
-- beside it, which grows.

local svg = dofile(arg[0]:match("^.*/") .. "svg.lua")
local d = svg.new(720, 330)
local WIDTH, HEIGHT, TOP = 96, 64, 62

d:text(16, 24, "The cell: a state that is written, then read",
  {size = 15, bold = true, anchor = "start"})
d:text(20, TOP + 34, "S₀ = 0", {anchor = "start"})
d:text(20, TOP + 50, "z₀ = 0", {anchor = "start"})
d:arrow(70, TOP + HEIGHT / 2, 116, TOP + HEIGHT / 2)
local digit = {"₁", "₂", "₃"}
for i = 1, 3 do
  local left = 116 + (i - 1) * 200
  local middle = left + WIDTH / 2
  d:rect(left, TOP, WIDTH, HEIGHT, "b")
  d:text(middle, TOP + 27, "write k, v", {size = 12})
  d:text(middle, TOP + 47, "read by q", {size = 12})
  d:arrow(middle, TOP + HEIGHT + 30, middle, TOP + HEIGHT)
  d:text(middle, TOP + HEIGHT + 46, ("q%s, k%s, v%s"):format(digit[i], digit[i], digit[i]))
  d:arrow(middle, TOP, middle, TOP - 22)
  d:text(middle + 12, TOP - 10, "V'" .. digit[i], {anchor = "start"})
  d:arrow(left + WIDTH, TOP + HEIGHT / 2, left + 200, TOP + HEIGHT / 2)
  d:text(left + WIDTH + 50, TOP + HEIGHT / 2 - 8, ("S%s, z%s"):format(digit[i], digit[i]))
end

-- Below each token what softmax has to keep: a row of the key and one of the value a token.
local below = 214
d:text(16, below, "Softmax's cache: a row of keys and values more for each token",
  {size = 15, bold = true, anchor = "start"})
for i = 1, 3 do
  local left = 116 + (i - 1) * 200
  for row = 1, i do
    local y = below + 16 + (row - 1) * 26
    d:box(left, y, 46, 22, "a", "k" .. digit[row], {size = 12})
    d:box(left + 50, y, 46, 22, "a", "v" .. digit[row], {size = 12})
  end
end
d:write(arg[1])
