-- canvas.lua: a picture made of characters, for what plot draws.
--
-- A cell holds 2 x 4 Braille dots where the terminal has UTF-8, and otherwise one dot, the
-- letter of its series. Text may stand over dots. Dots are counted from the top left, from
-- 1; so are cells.
--
--   local c = canvas.new(columns, rows)
--   c:line(x1, y1, x2, y2, series)      dots from dot to dot
--   c:put(column, row, text, series)    a character of text
--   c:lines()                           a list of strings, as wide as the canvas
--
-- Colours only repeat what letters say.

local host = require "tarn.host"

local canvas = {}
local class = {__index = canvas}

local BRAILLE = 0x2800
local bit_of = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}} -- by row, column
local colors = {34, 31, 32, 35, 36, 33}

-- The letter that stands for a series.
function canvas.letter(series) return string.char(("a"):byte() + series - 1) end

-- Text in the colour of a series, if there are colours.
function canvas.paint(text, series)
  if not host.color then return text end
  return ("\27[%dm%s\27[0m"):format(colors[(series - 1) % #colors + 1], text)
end

function canvas.new(columns, rows)
  local across, down = 1, 1
  if host.utf8 then across, down = 2, 4 end
  return setmetatable({columns = columns, rows = rows, across = across, down = down,
    dots_x = columns * across, dots_y = rows * down, bits = {}, text = {}, series = {}}, class)
end

-- The number of a cell, row by row.
local function cell(self, column, row) return (row - 1) * self.columns + column end

function canvas:put(column, row, text, series)
  local at = cell(self, column, row)
  self.text[at], self.series[at] = text, series
end

-- The cell of a dot: column, row.
function canvas:cell_of(x, y)
  return (x - 1) // self.across + 1, (y - 1) // self.down + 1
end

function canvas:dot(x, y, series)
  local column, row = self:cell_of(x, y)
  if not host.utf8 then return self:put(column, row, canvas.letter(series), series) end
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
