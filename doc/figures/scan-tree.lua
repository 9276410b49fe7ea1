-- scan-tree.lua: four chunks' sums on their way up the tree, and their prefixes down.

local svg = dofile(arg[0]:match("^.*/") .. "svg.lua")
local d = svg.new(720, 318)
local HALF = 18 -- half the side of a node

-- Where the nodes of a level lie, leaves first.
local LEVELS = {{y = 262, x = {0, 72, 144, 216}}, {y = 172, x = {36, 180}}, {y = 82, x = {108}}}

local function node(x, y, value, kind)
  d:box(x - HALF, y - HALF, 2 * HALF, 2 * HALF, kind, tostring(value), {size = 17, bold = true})
end

local function edge(parent_x, parent_y, x, y, down)
  local from, to = parent_y + HALF, y - HALF
  if down then
    d:arrow(parent_x, from, x, to)
  else
    d:arrow(x, to, parent_x, from)
  end
end

local function edges(left, down)
  for level = 2, 3 do
    local above, below = LEVELS[level], LEVELS[level - 1]
    for n, x in ipairs(above.x) do
      for child = 2 * n - 1, 2 * n do
        edge(left + x, above.y, left + below.x[child], below.y, down)
      end
    end
  end
end

-- A tree; the level whose values are given, not computed, is tinted.
local function tree(left, values, down)
  edges(left, down)
  for level, row in ipairs(values) do
    for n, value in ipairs(row) do
      local given = level == (down and 3 or 1)
      node(left + LEVELS[level].x[n], LEVELS[level].y, value, given and "a" or "plain")
    end
  end
  for n = 1, 4 do d:text(left + LEVELS[1].x[n], 304, "chunk " .. n, {size = 12}) end
end

d:text(186, 28, "up: add neighbours", {size = 14, bold = true})
tree(78, {{1, 1, 4, 0}, {2, 4}, {6}}, false)
d:text(214, 78, "sum of all", {anchor = "start"})
d:text(558, 28, "down: what lies to the left", {size = 14, bold = true})
tree(450, {{0, 1, 2, 6}, {0, 2}, {0}}, true)
d:text(586, 78, "nothing comes first", {anchor = "start"})
d:text(624, 136, "+ 2", {anchor = "start"})
d:text(516, 214, "+ 1", {anchor = "start"})
d:text(660, 214, "+ 4", {anchor = "start"})
d:write(arg[1])
