-- svg.lua: drawings for the book: boxes, lines, arrows and words, written as SVG.
--
--     local svg = dofile(arg[0]:match("^.*/") .. "svg.lua")
--     local d = svg.new(720, 240)
--     d:box(10, 10, 80, 60, "a", "S", {size = 16, italic = true})
--     d:write(arg[1])
--
-- Units are pixels at a width of 720. The kinds of boxes differ in fill and in their dashes,
-- so that a drawing can be read without colours: "plain" (outline), "a" and "b" (two tints),
-- "off" (dashed: what is not kept, or not computed), "dark". A browser in dark mode gets
-- light ink. Equal calls give equal files.

local svg = {}
svg.__index = svg

local STYLE = [[
text { font-family: "DejaVu Sans", Verdana, sans-serif; fill: #1d2430; }
.plain { fill: #ffffff; fill-opacity: 0; stroke: #1d2430; }
.a { fill: #cfe0f5; stroke: #1d2430; }
.b { fill: #eec583; stroke: #1d2430; }
.off { fill: #ffffff; fill-opacity: 0; stroke: #8a93a3; stroke-dasharray: 4 3; }
.dark { fill: #1d2430; stroke: #1d2430; }
.light { fill: #ffffff; }
.line { fill: none; stroke: #1d2430; }
.dashed { fill: none; stroke: #1d2430; stroke-dasharray: 5 3; }
@media (prefers-color-scheme: dark) {
  text { fill: #e4e8ee; }
  .plain { stroke: #e4e8ee; } .line { stroke: #e4e8ee; } .dashed { stroke: #e4e8ee; }
  .a { fill: #27466b; stroke: #e4e8ee; } .b { fill: #6a4a1c; stroke: #e4e8ee; }
  .dark { fill: #e4e8ee; stroke: #e4e8ee; } .light { fill: #1d2430; }
}
]]

local function escape(words)
  return (words:gsub("[&<>]", {["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;"}))
end

-- Two decimals at most, none where none are needed.
local function number(x)
  return (("%.2f"):format(x):gsub("%.?0+$", ""))
end

local function add(drawing, form, ...)
  local values = {...}
  for i, value in ipairs(values) do
    if type(value) == "number" then values[i] = number(value) end
  end
  drawing[#drawing + 1] = form:format(table.unpack(values))
end

function svg.new(width, height)
  return setmetatable({width = width, height = height}, svg)
end

-- A box with its upper left corner at (x, y).
function svg:rect(x, y, width, height, kind)
  add(self, '<rect x="%s" y="%s" width="%s" height="%s" class="%s"/>', x, y, width, height,
    kind or "plain")
end

-- A closed line through the points {x1, y1, x2, y2, ...}.
function svg:polygon(points, kind)
  for i, value in ipairs(points) do points[i] = number(value) end
  add(self, '<polygon points="%s" class="%s"/>', table.concat(points, " "), kind or "plain")
end

function svg:line(x1, y1, x2, y2, kind)
  add(self, '<line x1="%s" y1="%s" x2="%s" y2="%s" class="%s"/>', x1, y1, x2, y2,
    kind or "line")
end

-- A line with a head at its second end.
function svg:arrow(x1, y1, x2, y2, kind)
  local length = math.sqrt((x2 - x1) ^ 2 + (y2 - y1) ^ 2)
  local ux, uy = (x2 - x1) / length, (y2 - y1) / length
  local bx, by = x2 - 9 * ux, y2 - 9 * uy
  self:line(x1, y1, bx, by, kind)
  self:polygon({x2, y2, bx - 4 * uy, by + 4 * ux, bx + 4 * uy, by - 4 * ux}, "dark")
end

-- Words whose baseline is at y; opt: size = 13, anchor = "middle" | "start" | "end", italic,
-- bold, class = "light" (on a dark box).
function svg:text(x, y, words, opt)
  opt = opt or {}
  local style = (opt.italic and ' font-style="italic"' or "")
    .. (opt.bold and ' font-weight="bold"' or "")
    .. (opt.class and (' class="%s"'):format(opt.class) or "")
  add(self, '<text x="%s" y="%s" font-size="%s" text-anchor="%s"%s>%s</text>', x, y,
    opt.size or 13, opt.anchor or "middle", style, escape(words))
end

-- A box with words in its middle; opt as for text.
function svg:box(x, y, width, height, kind, words, opt)
  self:rect(x, y, width, height, kind)
  self:text(x + width / 2, y + height / 2 + 0.36 * (opt and opt.size or 13), words, opt)
end

-- Writes the drawing to a file, by way of another name.
function svg:write(path)
  local file <close> = assert(io.open(path .. ".new", "w"))
  assert(file:write(('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%s" '
    .. 'height="%s">\n<style>\n%s</style>\n'):format(number(self.width), number(self.height),
      number(self.width), number(self.height), STYLE), table.concat(self, "\n"), "\n</svg>\n"))
  assert(file:close())
  assert(os.rename(path .. ".new", path))
end

return svg
