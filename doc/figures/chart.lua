-- chart.lua: a line chart among the drawings of svg.lua.
--
--     local chart = dofile(arg[0]:match("^.*/") .. "chart.lua")
--     chart.draw(d, {left = 70, top = 20, width = 500, height = 240,
--       x = {log = true, ticks = {4, 8, 16}, title = "pairs"},
--       y = {ticks = {0, 0.5, 1}, title = "right"},
--       series = {{"elu1", xs = {..}, ys = {..}}, ...}})
--
-- An axis runs from its first tick to its last; a tick is a number or {number, "label"}. A
-- series has its own marker and, every other one, dashes; its name stands at its right end,
-- moved by `shift` pixels where names would meet.

local chart = {}

local function value_of(tick)
  return type(tick) == "table" and tick[1] or tick
end

local function label_of(tick)
  return type(tick) == "table" and tick[2] or ("%g"):format(tick)
end

-- Places of values between two pixels.
local function scale(axis, from, to)
  local function where(value) return axis.log and math.log(value) or value end
  local first, last = where(value_of(axis.ticks[1])), where(value_of(axis.ticks[#axis.ticks]))
  return function(value)
    return from + (where(value) - first) / (last - first) * (to - from)
  end
end

-- The points of a regular shape around (x, y).
local function shape(x, y, corners, radius, turn)
  local points = {}
  for i = 0, corners - 1 do
    local angle = 2 * math.pi * (i / corners + turn)
    points[#points + 1] = x + radius * math.sin(angle)
    points[#points + 1] = y - radius * math.cos(angle)
  end
  return points
end

local markers = {
  {16, 4, 0, "dark"}, {4, 5, 0.125, "dark"}, {3, 5.5, 0, "dark"},
  {16, 4.5, 0, "b"}, {4, 5.5, 0, "b"}, {3, 6, 0.5, "b"},
}

local function axes(d, c, x_of, y_of)
  local right, bottom = c.left + c.width, c.top + c.height
  d:line(c.left, bottom, right, bottom)
  d:line(c.left, c.top, c.left, bottom)
  for _, tick in ipairs(c.x.ticks) do
    local x = x_of(value_of(tick))
    d:line(x, bottom, x, bottom + 5)
    d:text(x, bottom + 20, label_of(tick))
  end
  for _, tick in ipairs(c.y.ticks) do
    local y = y_of(value_of(tick))
    d:line(c.left - 5, y, c.left, y)
    d:text(c.left - 9, y + 4, label_of(tick), {anchor = "end"})
  end
  d:text(c.left + c.width / 2, bottom + 42, c.x.title)
  d:text(c.left - 40, c.top - 14, c.y.title, {anchor = "start"})
end

local function draw_series(d, s, n, x_of, y_of)
  local marker = markers[(n - 1) % #markers + 1]
  for i = 2, #s.xs do
    d:line(x_of(s.xs[i - 1]), y_of(s.ys[i - 1]), x_of(s.xs[i]), y_of(s.ys[i]),
      n % 2 == 0 and "dashed" or "line")
  end
  for i, x in ipairs(s.xs) do
    d:polygon(shape(x_of(x), y_of(s.ys[i]), marker[1], marker[2], marker[3]), marker[4])
  end
  local last = #s.xs
  d:text(x_of(s.xs[last]) + 12, y_of(s.ys[last]) + 4 + (s.shift or 0), s[1],
    {anchor = "start"})
end

function chart.draw(d, c)
  local x_of = scale(c.x, c.left, c.left + c.width)
  local y_of = scale(c.y, c.top + c.height, c.top)
  axes(d, c, x_of, y_of)
  for n, s in ipairs(c.series) do draw_series(d, s, n, x_of, y_of) end
end

return chart
