-- canvas.lua: a picture made of characters, for what plot draws.
--
-- A cell holds 2 x 4 Braille dots where the terminal has UTF-8, and otherwise one dot, the
-- letter of its series or an asterisk. Text may stand over dots. Dots are counted from the
-- top left, from 1; so are cells.
--
--   local c = canvas.new(columns, rows, several)   whether there is more than one series
--   c:line(x1, y1, x2, y2, series)      dots from dot to dot
--   c:put(column, row, text, series)    a character of text, "&" where series meet
--   c:lines()                           a list of strings, as wide as the canvas
--
-- Colours only repeat what letters say. Below a picture stand
--
--   canvas.wrap(lines, entries, columns, gap)   entries, in as many lines as they need
--   canvas.say(lines, text)                     a sentence, in lines of the window

local host = require "tarn.host"

local canvas = {SHARED = "&"} -- what stands for several series
local class = {__index = canvas}

local BRAILLE = 0x2800
local SEVERAL = 0 -- the owner of a cell in which series meet
local bit_of = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}} -- by row, column
local colors = {34, 31, 32, 35, 36, 33}

-- The letter that stands for a series in the legend.
function canvas.letter(series) return string.char(("a"):byte() + series - 1) end

-- What stands for a dot where there is no Braille.
function canvas:mark(series) return self.several and canvas.letter(series) or "*" end

-- Text in the colour of a series, if there are colours.
function canvas.paint(text, series)
  if not host.color then return text end
  return ("\27[%dm%s\27[0m"):format(colors[(series - 1) % #colors + 1], text)
end

function canvas.wrap(lines, entries, columns, gap)
  local line
  for _, entry in ipairs(entries) do
    local longer = line and line .. (" "):rep(gap) .. entry or entry
    if line and (utf8.len(longer) or #longer) > columns then
      lines[#lines + 1] = line
      longer = entry
    end
    line = longer
  end
  lines[#lines + 1] = line
end

function canvas.say(lines, text)
  local words = {}
  for word in text:gmatch("%S+") do words[#words + 1] = word end
  canvas.wrap(lines, words, host.columns(), 1)
end

function canvas.new(columns, rows, several)
  local across, down = 1, 1
  if host.utf8 then across, down = 2, 4 end
  return setmetatable({columns = columns, rows = rows, across = across, down = down,
    dots_x = columns * across, dots_y = rows * down, several = several,
    bits = {}, text = {}, owner = {}, series = {}}, class)
end

-- The number of a cell, row by row.
local function cell(self, column, row) return (row - 1) * self.columns + column end

-- Puts text of a series into a cell; where that of another series stands, SHARED, and
-- `shared` tells so.
function canvas:put(column, row, text, series)
  local at = cell(self, column, row)
  local owner = self.owner[at] or series
  if owner ~= series then text, owner, self.shared = canvas.SHARED, SEVERAL, true end
  self.text[at], self.owner[at], self.series[at] = text, owner, series
end

-- The cell of a dot: column, row.
function canvas:cell_of(x, y)
  return (x - 1) // self.across + 1, (y - 1) // self.down + 1
end

function canvas:dot(x, y, series)
  local column, row = self:cell_of(x, y)
  if not host.utf8 then return self:put(column, row, self:mark(series), series) end
  local at = cell(self, column, row)
  local bit = bit_of[(y - 1) % 4 + 1][(x - 1) % 2 + 1]
  self.bits[at] = (self.bits[at] or 0) | bit
  self.series[at] = series
end

function canvas:line(x1, y1, x2, y2, series)
  local steps = math.max(math.abs(x2 - x1), math.abs(y2 - y1), 1)
  for i = 0, steps do
    self:dot((2 * i * (x2 - x1) + steps) // (2 * steps) + x1,
      (2 * i * (y2 - y1) + steps) // (2 * steps) + y1, series)
  end
end

function canvas:lines()
  local lines = {}
  for row = 1, self.rows do
    local parts = {}
    for column = 1, self.columns do
      local at = cell(self, column, row)
      local bits = self.bits[at]
      local text = self.text[at] or bits and utf8.char(BRAILLE + bits)
      parts[column] = text and canvas.paint(text, self.series[at]) or " "
    end
    lines[row] = table.concat(parts)
  end
  return lines
end

return canvas
