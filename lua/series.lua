-- series.lua: what plot is to draw, out of the ways in which one may call it.
--
--   plot(y)  plot(x, y)                a list of numbers, a tensor [n], or [s, n]: s series
--   plot{y1, y2}  plot(x, {y1, y2})    several series
--   plot{ {x=, y=, label=}, ... }      each with a label and positions of its own
--   plot(f)                            a function of a number, from xrange
--
-- Each becomes {x = {..}, y = {..}, label =, left =}: finite numbers, or false in y where
-- the line breaks; `left` counts what was left out, by its kind; `counted` says that x is
-- 1, 2, 3, ... Without x, a long tensor is read in pieces, of which each gives its smallest
-- and its largest number.

local tarn = require "tarn"
local show = require "tarn.show"
local tensors = require "tarn.tensors"

local series = {}

local MOST_SERIES, MOST_POINTS = 12, 100000
local PIECES = 400 -- of a longer tensor
local huge = math.huge

local function fail(...) error("plot: " .. string.format(...), 0) end

-- How a value is called in a message.
local function describe(value)
  if show.is_tensor(value) then return "[" .. table.concat(value.shape, ", ") .. "]" end
  local text = show.text(value)
  return #text <= 40 and text or "a " .. type(value)
end

-- ---- numbers --------------------------------------------------------------------------

local function count_left(left, kind, n)
  if n > 0 then left[kind] = (left[kind] or 0) + n end
end

-- True for a number that can be drawn; otherwise counts it.
local function drawable(x, log, left)
  if x ~= x then count_left(left, "NaN", 1)
  elseif x == huge or x == -huge then count_left(left, "infinite", 1)
  elseif log and x <= 0 then count_left(left, "not above 0 on a log axis", 1)
  else return true end
  return false
end

-- A list or a tensor of rank 1 as a list of numbers.
local function numbers(values, name)
  if show.is_tensor(values) then
    if values:rank() ~= 1 then
      fail("%s is %s, expected %s", name, describe(values), name == "x" and "[n]" or
        "[n] or [s, n]")
    end
    if #values > MOST_POINTS then
      fail("%s is %s, expected at most %d numbers beside an x; hint: a part of it is %s[{{1, %d}}]",
        name, describe(values), MOST_POINTS, name, MOST_POINTS)
    end
    return values:totable()
  end
  if type(values) ~= "table" then
    fail("%s is %s, expected a tensor or a list of numbers", name, describe(values))
  end
  if values[1] == nil and next(values) ~= nil then
    fail("%s is a table without numbers, expected a tensor or a list of numbers", name)
  end
  for i = 1, #values do
    if type(values[i]) ~= "number" then
      fail("%s[%d] is %s, expected a number", name, i, describe(values[i]))
    end
  end
  return values
end

local function from_lists(x, y, opt)
  local one = {x = {}, y = {}, left = {}, counted = not x}
  for i = 1, #y do
    local x_i = x and x[i] or i
    local good = drawable(x_i, opt.logx, one.left) and drawable(y[i], opt.logy, one.left)
    one.x[i], one.y[i] = x_i, good and y[i]
  end
  return one
end

-- ---- long tensors ---------------------------------------------------------------------

-- The smallest and the largest drawable number of a piece, or nothing.
local function extremes(piece, log, left)
  local lo, hi = piece:min(), piece:max()
  if lo > (log and 0 or -huge) and hi < huge then return lo, hi end
  local is_number, size = piece:eq(piece), piece:abs()
  local finite = size:lt(huge)
  local good = log and finite * piece:gt(0) or finite
  local numbers_in, finite_in, good_in = is_number:sum(), finite:sum(), good:sum()
  count_left(left, "NaN", math.tointeger(#piece - numbers_in))
  count_left(left, "infinite", math.tointeger(numbers_in - finite_in))
  count_left(left, "not above 0 on a log axis", math.tointeger(finite_in - good_in))
  if good_in == 0 then return end
  return tarn.where(good, piece, huge):min(), tarn.where(good, piece, -huge):max()
end

local function from_pieces(y, opt)
  local one, n = {x = {}, y = {}, left = {}, counted = true}, #y
  for i = 1, PIECES do
    local first, last = (i - 1) * n // PIECES + 1, i * n // PIECES
    local lo, hi = extremes(y[{{first, last}}], opt.logy, one.left)
    local middle = first + (last - first) / 2
    one.x[2 * i - 1], one.y[2 * i - 1] = middle, lo or false
    one.x[2 * i], one.y[2 * i] = middle, hi or false
  end
  one.pieces = ("each point is the smallest or the largest of about %d"):format(n // PIECES)
  return one
end

-- ---- functions ------------------------------------------------------------------------

local function from_function(f, opt)
  local lo, hi = table.unpack(opt.xrange or {-5, 5})
  if opt.logx and lo <= 0 then
    fail("a function on a log axis needs xrange={low, high} with low above 0")
  end
  local x, y = {}, {}
  for i = 0, PIECES do
    local share = i / PIECES
    x[i + 1] = opt.logx and lo ^ (1 - share) * hi ^ share or lo * (1 - share) + hi * share
    y[i + 1] = f(x[i + 1])
    if type(y[i + 1]) ~= "number" then
      fail("the function gave %s for %.4g, expected a number", describe(y[i + 1]), x[i + 1])
    end
  end
  return from_lists(x, y, opt)
end

-- ---- arguments ------------------------------------------------------------------------

local add

-- Adds one series, or one for each row of a matrix.
local function add_values(list, x, y, opt, name)
  if show.is_tensor(y) then y = tensors.on_host(y) end
  if type(y) == "function" then
    list[#list + 1] = from_function(y, opt)
  elseif show.is_tensor(y) and y:rank() == 2 then
    if #y > MOST_SERIES then
      fail("%s is %s, a series for each of %d rows, expected at most %d; hint: heat shows a matrix",
        name, describe(y), #y, MOST_SERIES)
    end
    for i = 1, #y do
      add_values(list, x, y[i], opt, name)
      list[#list].label = "row " .. i
    end
  elseif not x and show.is_tensor(y) and y:rank() == 1 and #y > MOST_POINTS then
    list[#list + 1] = from_pieces(y, opt)
  else
    local ys = numbers(y, name)
    local xs = x and numbers(x, "x")
    if xs and #xs ~= #ys then
      fail("x has %d numbers, expected %d to match %s", #xs, #ys, name)
    end
    list[#list + 1] = from_lists(xs, ys, opt)
  end
end

local function add_described(list, x, entry, opt)
  for key in next, entry do
    if key ~= "x" and key ~= "y" and key ~= "label" then
      fail("a series has %s, expected x, y and label", describe(key))
    end
  end
  if entry.label ~= nil and type(entry.label) ~= "string" then
    fail("label is %s, expected a string", describe(entry.label))
  end
  local before = #list
  add_values(list, entry.x or x, entry.y, opt, "y")
  if entry.label and #list == before + 1 then list[#list].label = entry.label:gsub("%c", " ") end
end

-- Adds what one argument holds: numbers, a described series, or a list of such.
function add(list, x, data, opt, nested)
  local is_table = type(data) == "table"
  if is_table and data.y ~= nil then return add_described(list, x, data, opt) end
  local is_list = is_table and data[1] ~= nil and type(data[1]) ~= "number"
  if not is_list or nested then return add_values(list, x, data, opt, "y") end
  for _, entry in ipairs(data) do add(list, x, entry, opt, true) end
end

-- True for a table that can only be options.
local function is_options(value, position)
  if type(value) ~= "table" or position < 2 then return false end
  return value[1] == nil and value.y == nil
end

-- Splits the arguments of plot into x (or nil), y, options.
function series.arguments(...)
  local given = table.pack(...)
  local opt
  if is_options(given[given.n], given.n) then
    opt, given.n = given[given.n], given.n - 1
  end
  if given.n == 1 then return nil, given[1], opt end
  if given.n == 2 then return given[1], given[2], opt end
  fail("there are %d arguments, expected plot(y), plot(x, y) or plot({y1, y2, ...})", given.n)
end

-- The series of x and y, labelled.
function series.read(x, y, opt)
  local list = {}
  add(list, x, y, opt)
  if #list > MOST_SERIES then
    fail("there are %d series, expected at most %d", #list, MOST_SERIES)
  end
  for i, label in ipairs(opt.legend or {}) do
    if not list[i] then fail("legend has %d labels for %d series", #opt.legend, #list) end
    list[i].label = label
  end
  return list
end

-- What was left out of all the series, in words; nil for nothing.
function series.left_out(list)
  local sums, parts = {}, {}
  for _, one in ipairs(list) do
    for kind, n in pairs(one.left) do sums[kind] = (sums[kind] or 0) + n end
  end
  for kind, n in pairs(sums) do parts[#parts + 1] = n .. " " .. kind end
  table.sort(parts)
  return #parts > 0 and "left out: " .. table.concat(parts, ", ") or nil
end

return series
