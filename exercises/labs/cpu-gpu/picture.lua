-- picture.lua: plot.svg, panels below each other, each drawn by plot{file=}.
--
--   picture.write(folder, rows, opt)   true, or nil and why there is none
--
-- Errors with their bounds, times, bytes that memory moves for one head, and where a real
-- device ran, what it gains. What is emulated says so.

local tarn = require "tarn"
local measure = require "measure"

local picture = {}

local WIDTH, HEIGHT = 800, 500 -- of one panel, as plot draws it
local SECTOR = 32 -- bytes

-- The points of one series for each key, in the order in which rows come.
local function series_of(rows, key_of, y_of)
  local list, by_key = {}, {}
  for _, row in ipairs(rows) do
    local key, y = key_of(row), y_of(row)
    if key and y then
      if not by_key[key] then
        by_key[key] = {x = {}, y = {}, label = key}
        list[#list + 1] = by_key[key]
      end
      table.insert(by_key[key].x, row.tokens)
      table.insert(by_key[key].y, y)
    end
  end
  return list
end

-- The last implementation of each form on each device is the best one; of the CPU, the first.
local function best_rows(rows)
  local best, chosen = {}, {}
  for _, row in ipairs(rows) do
    local key = row.form .. row.device
    if row.what == "out" and (row.device ~= "cpu" or not best[key]) then best[key] = row.impl end
  end
  for _, row in ipairs(rows) do
    if row.what == "out" and best[row.form .. row.device] == row.impl then
      chosen[#chosen + 1] = row
    end
  end
  return chosen
end

local function name_of(row) return ("%s %s %s"):format(row.form, row.device, row.impl) end

local function panels_of(rows, rounding)
  local best, outputs = best_rows(rows), {}
  for _, row in ipairs(rows) do
    if row.what == "out" then outputs[#outputs + 1] = row end
  end
  local errors = series_of(best, name_of, function(row) return row.max_rel / rounding end)
  for _, bound in ipairs(series_of(best, function(row) return row.form .. " bound" end,
      function(row) return row.device == best[1].device and row.bound / rounding or nil end)) do
    errors[#errors + 1] = bound
  end
  return {
    {errors, "Largest error over the number of tokens, and its bound",
      ("in units of %.2g"):format(rounding)},
    {series_of(best, function(row)
      return row.time_is == "emulated" and row.form .. " " .. row.impl .. " emulated" or
        name_of(row)
    end, function(row) return row.seconds * 1e3 end),
      "Time over the number of tokens; emulated times compare with nothing", "milliseconds"},
    {series_of(outputs, function(row) return row.form .. " " .. row.impl end,
      function(row) return row.head_sectors and row.head_sectors * SECTOR / 2 ^ 20 end),
      "What global memory moves for one head, over the number of tokens", "MiB"},
    {series_of(best, name_of, function(row)
      return row.device ~= "cpu" and row.speedup_over_cpu_fast or nil
    end), "Speed-up over the fast form on the CPU, over the number of tokens", "times as fast"},
  }
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
  tarn.plot(panel[1], {title = panel[2], ylabel = panel[3], logx = true, logy = true,
    file = path})
  local file <close> = assert(io.open(path, "rb"))
  return file:read("a")
end

function picture.write(folder, rows, opt)
  local parts = {}
  for _, panel in ipairs(panels_of(rows, measure.epsilon[opt.dtype])) do
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

return picture
