-- panels.lua: one picture, plot.svg, of panels below each other, each drawn by plot{file=}.
--
--   panels.write(folder, {{series, title, ylabel[, options]}, ...})
--       true, or nil and why there is none; a panel without a series is left out
--   panels.series(rows, key_of, x_of, y_of)
--       a series {x=, y=, label=} for each key, in the order in which rows come

local tarn = require "tarn"

local panels = {}

local WIDTH, HEIGHT = 800, 500 -- of one panel, as plot draws it

function panels.series(rows, key_of, x_of, y_of)
  local list, by_key = {}, {}
  for _, row in ipairs(rows) do
    local key, y = key_of(row), y_of(row)
    if key and y then
      if not by_key[key] then
        by_key[key] = {x = {}, y = {}, label = key}
        list[#list + 1] = by_key[key]
      end
      table.insert(by_key[key].x, x_of(row))
      table.insert(by_key[key].y, y)
    end
  end
  return list
end

-- The inside of a panel, in a frame of its own. Its names, which are to be unique in the whole,
-- and what refers to them get a prefix.
local function nested(svg, number)
  local prefix, inside = "p" .. number .. "_", svg:match("<svg.-(>.*</svg>)")
  for _, before in ipairs {'%sid="', "%sid='", 'href="#', "href='#", "url%(#"} do
    inside = inside:gsub(before, "%0" .. prefix)
  end
  return ('<svg y="%d" width="%d" height="%d" viewBox="0 0 %d %d"%s\n'):format(
    (number - 1) * HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT, inside)
end

local function draw(folder, panel)
  local path = folder:path("panel.tmp.svg")
  local removes <close> = setmetatable({}, {__close = function() os.remove(path) end})
  local opt = {title = panel[2], ylabel = panel[3], logx = true, logy = true, file = path}
  for name, value in pairs(panel[4] or {}) do opt[name] = value end
  tarn.plot(panel[1], opt)
  local file <close> = assert(io.open(path, "rb"))
  return file:read("a")
end

function panels.write(folder, list)
  local parts = {}
  for _, panel in ipairs(list) do
    if #panel[1] > 0 then
      local ok, svg = pcall(draw, folder, panel)
      if not ok then return nil, svg:match("needs (gnuplot, [^;]*)") or svg end
      parts[#parts + 1] = nested(svg, #parts + 1)
    end
  end
  folder:write("plot.svg", ('<?xml version="1.0" encoding="utf-8"?>\n' ..
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ' ..
    'width="%d" height="%d" viewBox="0 0 %d %d">\n<rect width="100%%" height="100%%" ' ..
    'fill="white"/>\n%s</svg>\n'):format(WIDTH, #parts * HEIGHT, WIDTH, #parts * HEIGHT,
    table.concat(parts)))
  return true
end

return panels
