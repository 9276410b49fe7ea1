-- curves.lua: series as lines or points on a canvas.
--
-- A picture is {canvas =, x =, y =}, with the axes that place numbers from 0 to 1. What is
-- outside of it is cut off. With several series, each is told by its letter, not by colour.

local host = require "tarn.host"
local canvas = require "tarn.canvas"

local curves = {FEW = 50} -- so many points are drawn large

local POINT = "•"
local FAR = 1e4 -- pictures away: what is further out is drawn from there

-- ---- lines ----------------------------------------------------------------------------

-- Cuts the line from (x1, y1) to (x2, y2) at the unit square; nothing if it misses it.
local function clip(x1, y1, x2, y2)
  local from, to = 0, 1
  local dx, dy = x2 - x1, y2 - y1
  for _, edge in ipairs {{-dx, x1}, {dx, 1 - x1}, {-dy, y1}, {dy, 1 - y1}} do
    local slope, room = edge[1], edge[2]
    if slope == 0 and room < 0 then return end
    if slope < 0 then from = math.max(from, room / slope) end
    if slope > 0 then to = math.min(to, room / slope) end
  end
  if from > to then return end
  return x1 + from * dx, y1 + from * dy, x1 + to * dx, y1 + to * dy
end

-- A point of a series from 0 to 1 in both directions; nothing for one that is left out.
local function place(picture, one, i)
  if not one.y[i] then return end
  local x, y = picture.x.place(one.x[i]), picture.y.place(one.y[i])
  return math.max(-FAR, math.min(x, FAR)), math.max(-FAR, math.min(y, FAR))
end

local function to_dots(c, x, y)
  return 1 + math.floor(x * (c.dots_x - 1) + 0.5), c.dots_y - math.floor(y * (c.dots_y - 1) + 0.5)
end

local function draw_lines(picture, one, number)
  local c = picture.canvas
  local x1, y1
  for i = 1, #one.y do
    local x2, y2 = place(picture, one, i)
    local a, b, d, e
    if x2 then a, b, d, e = clip(x1 or x2, y1 or y2, x2, y2) end
    if a then
      a, b = to_dots(c, a, b)
      d, e = to_dots(c, d, e)
      c:line(a, b, d, e, number)
    end
    x1, y1 = x2, y2
  end
end

-- Calls f(x, y, i) for each point in the picture, with its dot.
local function each_dot(picture, one, f)
  for i = 1, #one.y do
    local x, y = place(picture, one, i)
    if x and clip(x, y, x, y) then
      x, y = to_dots(picture.canvas, x, y)
      f(x, y, i)
    end
  end
end

-- The same with the column and row of its cell.
local function each_cell(picture, one, f)
  each_dot(picture, one, function(x, y, i)
    local column, row = picture.canvas:cell_of(x, y)
    f(column, row, i)
  end)
end

-- Draws points alone: letters, or for a single series dots, large ones if they are few.
local function draw_points(picture, one, number)
  local c = picture.canvas
  local mark = (c.several or not host.utf8) and c:mark(number) or
    #one.y <= curves.FEW and POINT
  each_dot(picture, one, function(x, y)
    if not mark then return c:dot(x, y, number) end
    local column, row = c:cell_of(x, y)
    c:put(column, row, mark, number)
  end)
end

-- Marks points that have no neighbour to draw a line to.
local function mark_lonely(picture, one, number)
  if not host.utf8 then return end
  each_cell(picture, one, function(column, row, i)
    if not one.y[i - 1] and not one.y[i + 1] then
      picture.canvas:put(column, row, POINT, number)
    end
  end)
end

-- Puts the letters of series on their lines: on each point if there are few, otherwise on
-- some, at other columns than the letters of the others.
local function put_letters(picture, list)
  local c = picture.canvas
  local gap = math.max(2 * #list, c.columns // 5)
  for number, one in ipairs(list) do
    local due = #one.y <= c.columns // 6 and 0 or (number - 1) * gap // #list + gap // 2
    each_cell(picture, one, function(column, row)
      if column < due then return end
      c:put(column, row, canvas.letter(number), number)
      while due > 0 and due <= column do due = due + gap end
    end)
  end
end

-- Draws all series of a list.
function curves.draw(picture, list, opt)
  for number, one in ipairs(list) do
    if opt.lines == false then
      draw_points(picture, one, number)
    else
      draw_lines(picture, one, number)
      mark_lonely(picture, one, number)
    end
  end
  if #list > 1 and opt.lines ~= false and host.utf8 then put_letters(picture, list) end
end

return curves
