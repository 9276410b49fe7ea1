-- heat.lua: heat(t), a matrix as shades, in the terminal or in a file by gnuplot.
--
--       1 2 3
--     1│██    │
--     2│  ██  │
--     3│    ██│
--     blank 0  ░ 0.25  ▒ 0.5  ▓ 0.75  █ 1
--
--   - A cell has the shade whose number, below the picture, is nearest to its own. With
--     numbers of both signs, negative ones have shades of their own, so the sign is seen
--     without colour.
--   - What is larger than the window is averaged: a cell is then the mean of a block. A
--     square stays a square. Only blocks are read, never the whole tensor at once.
--   - NaN and infinities, in a block too, stay visible as ? ^ v.

local tarn = require "tarn"
local host = require "tarn.host"
local axes = require "tarn.axes"
local canvas = require "tarn.canvas"
local gnuplot = require "tarn.gnuplot"
local options = require "tarn.options"

local known = {title = "text", range = "range", log = "flag", width = "count", height = "count",
  file = "path"}

local MOST_LINES, MOST_IN_FILE = 40, 500
local FEW = 10 -- rows or columns that all have their numbers in a file
local GAP = 2 -- between the entries of the scale

local plain, positive, negative, side
if host.utf8 then
  side = "│"
  plain = {[0] = " ", "░", "▒", "▓", "█"}
  positive, negative = {"░", "▒", "▓", "█"}, {"-", "~", "=", "≡"}
else
  side = "|"
  plain = {[0] = " ", ".", ":", "-", "=", "+", "*", "#", "%", "@"}
  positive, negative = {"+", "*", "#", "@"}, {"-", "~", "=", "%"}
end

-- ---- the cells ------------------------------------------------------------------------

-- The argument as a tensor of rank 2.
local function matrix(t)
  t = options.tensor("heat", t, "a tensor [rows, columns]")
  local rank = t:rank()
  if rank == 2 then return t end
  if rank < 2 then return t:reshape(1, t:numel()) end
  error(("heat: t is [%s], expected [rows, columns]; hint: heat(t[%s]) shows one matrix of it")
    :format(table.concat(t.shape, ", "), ("1]["):rep(rank - 3) .. "1"), 0)
end

-- How many rows and columns a block has, so that so many lines and characters hold all
-- blocks, and how many characters a cell is wide: two make it a square.
local function choose_blocks(rows, columns, lines, room)
  local wide = (columns <= room // 2) and 2 or 1
  local across = math.ceil(columns * wide / room)
  local down = math.ceil(rows / lines)
  if rows == columns then
    if wide == 2 and down > 1 then wide = 1 end
    if wide == 1 then
      across = math.max(across, math.ceil(down / 2))
      down = 2 * across
    end
  end
  return math.min(down, rows), math.min(across, columns), wide
end

-- The means of the blocks, row by row.
local function means(t, rows, columns, down, across)
  if down == 1 and across == 1 then return t:totable() end
  local cells = {}
  for i = 1, rows, down do
    local line = {}
    for j = 1, columns, across do
      local block = t[{{i, math.min(i + down - 1, rows)}, {j, math.min(j + across - 1, columns)}}]
      line[#line + 1] = block:mean()
    end
    cells[#cells + 1] = line
  end
  return cells
end

-- The smallest and the largest finite number of the cells, above 0 for a log scale; nil
-- without any.
local function range_of(cells, log)
  local lo, hi = math.huge, -math.huge
  for _, line in ipairs(cells) do
    for _, x in ipairs(line) do
      if x - x == 0 and (x > 0 or not log) then lo, hi = math.min(lo, x), math.max(hi, x) end
    end
  end
  if lo <= hi then return lo, hi end
end

-- ---- shades ---------------------------------------------------------------------------

-- Shades of equal ratios; what is not above 0 stays blank.
local function log_scale(lo, hi)
  local steps, ratio = #plain - 1, math.log(hi) - math.log(lo)
  return {first = 1, last = #plain, log = true,
    level = function(x) return 1 + (math.log(x) - math.log(lo)) / ratio * steps end,
    number = function(step) return math.exp(math.log(lo) + ratio * (step - 1) / steps) end}
end

-- A scale for numbers from lo to hi: steps from `first` to `last` and the number of each.
local function new_scale(lo, hi, log)
  if log and lo < hi then return log_scale(lo, hi) end
  if lo < 0 and hi > 0 then
    local most = math.max(-lo, hi)
    return {first = -#negative, last = #positive, signed = true,
      level = function(x) return x / most * #positive end,
      number = function(step) return step / #positive * most end}
  end
  if lo == hi then
    return {first = #plain // 2, last = #plain // 2, level = function() return #plain // 2 end,
      number = function() return lo end}
  end
  local span = hi / 2 - lo / 2
  return {first = 0, last = #plain,
    level = function(x) return (x / 2 - lo / 2) / span * #plain end,
    number = function(step) return lo + (hi / #plain - lo / #plain) * step end}
end

local function shade_of(scale, step)
  if not scale.signed then return plain[step] end
  if step == 0 then return " " end
  return step > 0 and positive[step] or negative[-step]
end

-- The character of a number; `seen` remembers which marks for what is not finite are used.
local function shade(scale, x, seen)
  local mark = x ~= x and "?" or x == math.huge and "^" or x == -math.huge and "v"
  if mark then
    seen[mark] = true
    return mark
  end
  if scale.log and x <= 0 then
    seen[" "] = true
    return " "
  end
  local step = math.floor(scale.level(x) + 0.5)
  return shade_of(scale, math.max(scale.first, math.min(step, scale.last)))
end

local marks = {{"?", "NaN"}, {"^", "infinite"}, {"v", "-infinite"}}

-- What each shade means, and the marks that occur.
local function scale_lines(lines, scale, seen, columns)
  local entries = {}
  if seen[" "] then entries[1] = "blank 0 or less" end
  for step = scale.first, scale.last do
    local character = shade_of(scale, step)
    local number = axes.number(scale.number(step))
    entries[#entries + 1] = (character == " " and "blank" or character) .. " " .. number
  end
  for _, mark in ipairs(marks) do
    if seen[mark[1]] then entries[#entries + 1] = mark[1] .. " " .. mark[2] end
  end
  canvas.wrap(lines, entries, columns, GAP)
end

-- ---- the picture ----------------------------------------------------------------------

-- The numbers of columns above the picture, as many as have room: 1, 5, 10, ..., or those
-- that begin every so many blocks.
local function column_numbers(count, across, wide, margin)
  local room = #tostring((count - 1) * across + 1) + 1
  local step = 1
  for _, each in ipairs {1, 2, 5, 10, 20, 50, 100, 200, 500} do
    step = each
    if each * wide >= room then break end
  end
  local line, last = "", margin + count * wide + 1
  for cell = 1, count do
    local start, number = margin + (cell - 1) * wide, tostring((cell - 1) * across + 1)
    local due = cell == 1 or (across == 1 and cell or cell - 1) % step == 0
    if due and (line == "" or #line < start and start + #number <= last) then
      line = line .. (" "):rep(start - #line) .. number
    end
  end
  return line
end

local function draw(lines, cells, scale, seen, layout)
  for i, line in ipairs(cells) do
    local parts = {}
    for j, x in ipairs(line) do
      local text = shade(scale, x, seen):rep(layout.wide)
      parts[j] = x < 0 and scale.signed and canvas.paint(text, 1) or text
    end
    local number = (i - 1) * layout.down + 1
    lines[#lines + 1] = ("%" .. layout.margin .. "d%s%s%s"):format(number, side,
      table.concat(parts), side)
  end
end

local function render(t, opt)
  local rows, columns = table.unpack(t.shape)
  local total, margin = opt.width or host.columns(), #tostring(rows)
  local down, across, wide = choose_blocks(rows, columns, opt.height or MOST_LINES,
    math.max(2, total - margin - 2))
  local cells = means(t, rows, columns, down, across)
  local lo, hi = range_of(cells, opt.log)
  if opt.range then lo, hi = table.unpack(opt.range) end
  local scale, seen = new_scale(lo or 0, hi or 0, opt.log), {}
  local lines = {opt.title}
  lines[#lines + 1] = column_numbers(#cells[1], across, wide, margin + 1)
  draw(lines, cells, scale, seen, {margin = margin, down = down, wide = wide})
  if not lo then scale.first = scale.last + 1 end
  scale_lines(lines, scale, seen, total)
  if down * across > 1 then
    canvas.say(lines, ("each cell is the mean of %d x %d"):format(down, across))
  end
  return lines
end

-- ---- files ----------------------------------------------------------------------------

-- The finite cells as lines of a script: left, right, top, bottom, number.
local function add_data(lines, cells, layout)
  lines[#lines + 1] = "$cells << END"
  for i, line in ipairs(cells) do
    local top = (i - 1) * layout.down
    for j, x in ipairs(line) do
      local left = (j - 1) * layout.across
      if x - x == 0 then
        lines[#lines + 1] = ("%d.5 %d.5 %d.5 %d.5 %.17g"):format(left,
          math.min(left + layout.across, layout.columns), top,
          math.min(top + layout.down, layout.rows), x)
      end
    end
  end
  lines[#lines + 1] = "END"
end

local function write_file(t, opt)
  local rows, columns = table.unpack(t.shape)
  local layout = {rows = rows, columns = columns, down = math.ceil(rows / MOST_IN_FILE),
    across = math.ceil(columns / MOST_IN_FILE)}
  local lines = {"set palette gray negative", "unset key", "set tics out nomirror",
    ("set xrange [0.5:%d.5]"):format(columns), ("set yrange [%d.5:0.5]"):format(rows),
    -- what is not finite, or not above 0 with log, leaves a hatched hole
    "set object rectangle from graph 0, 0 to graph 1, 1 behind fillstyle pattern 4 " ..
      "fillcolor rgb '#cccccc'"}
  gnuplot.texts(lines, opt)
  if rows == columns then lines[#lines + 1] = "set size square" end
  if columns <= FEW then lines[#lines + 1] = "set xtics 1" end
  if rows <= FEW then lines[#lines + 1] = "set ytics 1" end
  if opt.log then lines[#lines + 1] = "set logscale cb" end
  if opt.range then
    lines[#lines + 1] = ("set cbrange [%.17g:%.17g]"):format(table.unpack(opt.range))
  end
  local cells = means(t, rows, columns, layout.down, layout.across)
  if not range_of(cells, opt.log) then error("heat: there are no numbers to draw", 0) end
  add_data(lines, cells, layout)
  lines[#lines + 1] = "plot $cells using 1:3:1:2:3:4:5 with boxxyerror " ..
    "fillstyle solid noborder linecolor palette"
  gnuplot.write("heat", opt.file, lines)
end

-- help: heat(t, {title=, range=, log=, width=, height=, file=})
-- Shows a matrix as shades; what is larger than the window is averaged in blocks.
-- shapes: t [rows, columns], or [columns], a row
-- math: none  cost: O(numel)
-- errors: a rank above 2, an unknown option, a file that does not end in .svg or .png
-- options: title  a line above the picture
--   range   {low, high} of the shades, otherwise those of the cells
--   log     true: shades of equal ratios, for attention weights; blank is 0 or less
--   width   columns of the picture, otherwise those of the window
--   height  its lines at most, otherwise 40
--   file    "x.svg" or "x.png": written by gnuplot instead
-- example:
--   > heat(tensor{{1, 0, 0}, {0.5, 0.5, 0}, {0.25, 0.25, 0.5}})
--     1 2 3
--   1│██    │
--   2│▒▒▒▒  │
--   3│░░░░▒▒│
--   blank 0  ░ 0.25  ▒ 0.5  ▓ 0.75  █ 1
-- note: a table of numbers is taken for a tensor. NaN shows as ?, infinities as ^ and v.
-- see: plot, hist, imwrite, show
function tarn.heat(t, opt)
  if type(opt) == "number" then opt = nil end -- mnist(i) gives its label too
  opt = options.check("heat", opt, known)
  if opt.file then gnuplot.check("heat", opt.file) end
  if opt.log and opt.range and opt.range[1] <= 0 then
    error(("heat: range begins at %s, expected more than 0 with log"):format(
      axes.number(opt.range[1])), 0)
  end
  t = matrix(t)
  if t:numel() == 0 then
    error(("heat: t is [%s], it has no elements to show"):format(table.concat(t.shape, ", ")), 0)
  end
  if opt.file then return write_file(t, opt) end
  io.write(table.concat(render(t, opt), "\n"), "\n")
end
