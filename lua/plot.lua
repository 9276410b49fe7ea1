-- plot.lua: plot(...), lines and points in the terminal, or in a file by gnuplot.
--
-- Lines are Braille dots; with several series each has its letter, which stands on its line
-- here and there and in the legend, so no colour is needed. Where there is no UTF-8 the
-- whole line is made of that letter. The arguments become series (series.lua), the series
-- curves (curves.lua) on a canvas (canvas.lua), between axes (axes.lua).

local tarn = require "tarn"
local host = require "tarn.host"
local axes = require "tarn.axes"
local canvas = require "tarn.canvas"
local curves = require "tarn.curves"
local gnuplot = require "tarn.gnuplot"
local options = require "tarn.options"
local series = require "tarn.series"

local known = {
  title = "text", xlabel = "text", ylabel = "text", legend = "texts", logx = "flag",
  logy = "flag", lines = "flag", width = "count", height = "count", xrange = "range",
  yrange = "range", file = "path",
}

local GAP = 3 -- between the entries of the legend
local LEAST_COLUMNS, LEAST_ROWS, MOST_ROWS = 10, 6, 16

local frame = host.utf8 and {side = "│", tick = "┤", corner = "└", bottom = "─", under = "┬"} or
  {side = "|", tick = "+", corner = "+", bottom = "-", under = "+"}

local function text_width(text) return utf8.len(text) or #text end

-- ---- ranges ---------------------------------------------------------------------------

local function within(x, range) return not range or x >= range[1] and x <= range[2] end

-- Calls f(x, y) for each drawable point.
local function each_point(list, f)
  for _, one in ipairs(list) do
    for i, y in ipairs(one.y) do
      if y then f(one.x[i], y) end
    end
  end
end

-- The range of the points by `field`, "x" or "y", of those that xrange lets in.
local function range_of(list, field, opt)
  local lo, hi = math.huge, -math.huge
  each_point(list, function(x, y)
    local value = field == "x" and x or y
    if within(x, opt.xrange) then lo, hi = math.min(lo, value), math.max(hi, value) end
  end)
  return lo, hi
end

local function choose_range(list, field, opt)
  local given, log = opt[field .. "range"], opt["log" .. field]
  if given and log and given[1] <= 0 then
    error(("plot: %srange begins at %s, expected more than 0 on a log axis"):format(field,
      axes.number(given[1])), 0)
  end
  if given then return given[1], given[2] end
  local lo, hi = range_of(list, field, opt)
  if log and lo == hi then return lo / 2, hi * 2 end
  return axes.widen(lo, hi)
end

-- ---- the frame ------------------------------------------------------------------------

-- The labels of the y axis by row, and how wide they are.
local function y_labels(axis, rows)
  local labels, width = {}, 0
  for _, tick in ipairs(axis.ticks) do
    labels[rows - math.floor(tick.at * (rows - 1) + 0.5)] = tick.text
    width = math.max(width, #tick.text)
  end
  return labels, width
end

-- The two lines below the picture: the axis and its numbers.
local function x_lines(axis, columns, margin)
  local line, numbers, free = {}, "", 0
  for column = 1, columns do line[column] = frame.bottom end
  for _, tick in ipairs(axis.ticks) do
    local column = 1 + math.floor(tick.at * (columns - 1) + 0.5)
    local centre, last = column - (#tick.text + 1) // 2, columns - #tick.text
    local start = margin + 1 + math.min(centre, last)
    if start >= free then
      line[column] = frame.under
      numbers = numbers .. (" "):rep(start - #numbers) .. tick.text
      free = #numbers + 2
    end
  end
  return (" "):rep(margin) .. frame.corner .. table.concat(line), numbers
end

local function centred(text, margin, columns)
  return (" "):rep(margin + math.max(0, (columns - text_width(text)) // 2)) .. text
end

-- The labels of the series behind their letters, in lines of the window.
local function legend(list, lines, picture)
  local entries = {}
  for number, one in ipairs(list) do
    entries[number] = canvas.letter(number) .. " " .. (one.label or "series " .. number)
  end
  if picture.canvas.shared then entries[#entries + 1] = canvas.SHARED .. " several" end
  canvas.wrap(lines, entries, picture.total, GAP)
end

-- ---- the picture ----------------------------------------------------------------------

local function layout(list, opt)
  local columns = opt.width or host.columns()
  local rows = opt.height or math.max(LEAST_ROWS, math.min(columns // 5, MOST_ROWS))
  local x_lo, x_hi = choose_range(list, "x", opt)
  local y_lo, y_hi = choose_range(list, "y", opt)
  local picture = {rows = rows, total = columns}
  picture.y = axes.new(y_lo, y_hi, {log = opt.logy, count = math.max(3, rows // 3)})
  picture.labels, picture.margin = y_labels(picture.y, rows)
  picture.columns = math.max(LEAST_COLUMNS, columns - picture.margin - 1)
  picture.x = axes.new(x_lo, x_hi, {log = opt.logx, count = math.max(2, picture.columns // 10),
    whole = list[1].counted})
  picture.canvas = canvas.new(picture.columns, rows, #list > 1)
  return picture
end

-- The whole picture as lines.
local function render(list, opt)
  local picture = layout(list, opt)
  local lines, margin, columns = {}, picture.margin, picture.columns
  curves.draw(picture, list, opt)
  if opt.title then lines[1] = centred(opt.title, margin + 1, columns) end
  if opt.ylabel then lines[#lines + 1] = opt.ylabel end
  for row, line in ipairs(picture.canvas:lines()) do
    local label = picture.labels[row]
    lines[#lines + 1] = (label and ("%" .. margin .. "s%s"):format(label, frame.tick) or
      (" "):rep(margin) .. frame.side) .. line
  end
  lines[#lines + 1], lines[#lines + 2] = x_lines(picture.x, columns, margin)
  if opt.xlabel then lines[#lines + 1] = centred(opt.xlabel, margin + 1, columns) end
  if #list > 1 or list[1].label then legend(list, lines, picture) end
  return lines
end

-- ---- files ----------------------------------------------------------------------------

-- The points of a series as a block of data that a script can name.
local function add_data(lines, one, number)
  lines[#lines + 1] = ("$series%d << END"):format(number)
  for i, y in ipairs(one.y) do
    lines[#lines + 1] = y and ("%.17g %.17g"):format(one.x[i], y) or ""
  end
  lines[#lines + 1] = "END"
end

local function write_file(list, opt)
  local lines, parts = {"set grid", "set key outside bottom center horizontal"}, {}
  gnuplot.texts(lines, opt)
  for _, field in ipairs {"x", "y"} do
    if opt["log" .. field] then lines[#lines + 1] = "set logscale " .. field end
    local range = opt[field .. "range"]
    if range then
      lines[#lines + 1] = ("set %srange [%.17g:%.17g]"):format(field, range[1], range[2])
    end
  end
  for number, one in ipairs(list) do
    add_data(lines, one, number)
    local label = one.label or #list > 1 and "series " .. number
    local style = opt.lines == false and "points" or
      (#one.y <= curves.FEW and "linespoints pointsize 0.5" or "lines") ..
        " linewidth 2 dashtype " .. number
    parts[number] = ("$series%d using 1:2 with %s %s"):format(number, style,
      label and "title " .. gnuplot.quote(label) or "notitle")
  end
  lines[#lines + 1] = "plot " .. table.concat(parts, ", ")
  gnuplot.write("plot", opt.file, lines)
end

-- ---- the function ---------------------------------------------------------------------

-- What the picture does not show, in lines, and whether it shows anything.
local function notes(list, opt)
  local lines, inside, outside = {}, 0, 0
  for _, one in ipairs(list) do lines[1] = lines[1] or one.pieces end
  each_point(list, function(x, y)
    if within(x, opt.xrange) and within(y, opt.yrange) then
      inside = inside + 1
    else
      outside = outside + 1
    end
  end)
  if outside > 0 then list[1].left["out of range"] = outside end
  lines[#lines + 1] = series.left_out(list)
  return lines, inside > 0
end

-- help: plot(y | x, y | {y1, y2, ..} | f, {title=, xlabel=, ylabel=, legend=, logx=, logy=,
--   lines=, xrange=, yrange=, width=, height=, file=})
-- Draws lines or points in the terminal: Braille dots, or letters where there is no UTF-8.
-- shapes: y a list of numbers, [n], or [s, n] for s series; x [n]
-- math: none  cost: O(numel)
-- errors: x and y of different lengths, more than 12 series, an unknown option, a file that
--   does not end in .svg or .png
-- options: title  a line above the picture
--   xlabel  what the x axis shows
--   ylabel  what the y axis shows
--   legend  {"name", ..}: names of the series, by the letters on their lines
--   logx    true: a logarithmic x axis
--   logy    true: a logarithmic y axis
--   lines   false: points only
--   xrange  {low, high} of the x axis, otherwise that of the points
--   yrange  {low, high} of the y axis
--   width   columns of the picture, otherwise those of the window
--   height  rows of the picture without its axis
--   file    "x.svg" or "x.png": written by gnuplot instead
-- note: series may also be {x=, y=, label=}; f is a function of a number. NaN, infinities,
--   and on log axes what is not above 0, are left out and counted; lines break there.
-- example:
--   > plot({1, 4, 9, 16}, {width=40, height=5})
--   15┤                                ⣀⡠⠤⠒⠉
--     │                           ⣀⠤⠔⠒⠉
--   10┤                   ⢀⣀⡠⠤⠔⠒⠊⠉
--    5┤           ⣀⣀⡠⠤⠔⠒⠊⠉⠁
--     │⣀⣀⠤⠤⠤⠒⠒⠒⠉⠉⠉
--     └┬───────────┬───────────┬───────────┬
--      1           2           3           4
--   > N = {256, 512, 1024, 2048}
--   > times = {{1, 4, 16, 64}, {1, 2, 4, 8}}
--   > log = {logx=true, logy=true, width=40, height=6}
--   > log.legend = {"sim", "assoc"}
--   > plot(N, times, log)
--     │                               ⢀⣀⠤⠔⠒a
--     │                         ⢀⣀⠤⠔⠒⠉⠁
--   10┤                  ⢀⣀⡠⠤⠒⠒a⠁         ⢀b
--     │           ⢀a⠤⠤⠒⠊⠉⠁    ⣀b⣀⡠⠤⠤⠔⠒⠒⠊⠉⠉⠁
--     │     ⢀⣀⠤⠔⠒⠉⣁b⣀⠤⠤⠤⠒⠒⠒⠉⠉⠉
--    1┤&⣤⠴⠶⠭⠓⠒⠒⠉⠉⠉
--     └────────────┬───────────┬───────────┬
--                 500         1000      2000
--   a sim   b assoc   & several
-- see: hist, heat, bench
function tarn.plot(...)
  local x, y, opt = series.arguments(...)
  opt = options.check("plot", opt, known)
  if opt.file then gnuplot.check("plot", opt.file) end
  local list = series.read(x, y, opt)
  local said, anything = notes(list, opt)
  if not anything then
    error("plot: there are no numbers to draw" .. (said[1] and "; " .. said[#said] or ""), 0)
  end
  if opt.file then return write_file(list, opt) end
  local lines = render(list, opt)
  for _, text in ipairs(said) do canvas.say(lines, text) end
  for i, line in ipairs(lines) do lines[i] = line:gsub(" +$", "") end
  io.write(table.concat(lines, "\n"), "\n")
end
