-- axes.lua: where values stand on an axis, and which of them carry a number.
--
--   local axis = axes.new(lo, hi, {log=, whole=, count=})
--   axis.place(x)     0 at lo, 1 at hi; nil for what a log axis can't show
--   axis.ticks        a list of {at=, text=}, at from 0 to 1
--
-- Steps are 1, 2 or 5 times a power of ten, on log axes decades where there are enough.
-- Ranges may be as wide as doubles are: no difference of two values is taken that could
-- overflow.

local axes = {}

local LARGEST = 0x1.fffffffffffffp1023
local PLAIN_BELOW, PLAIN_DIGITS = 1e6, 4 -- beyond them numbers have exponents

-- 1.5e+06 as 1.5e6, and 0 without a sign.
local function tidy(text)
  text = text:gsub("e([+-])0*(%d)", function(sign, digit)
    return "e" .. (sign == "-" and "-" or "") .. digit
  end)
  return tonumber(text) == 0 and text:gsub("^-", "") or text
end

-- A number in a few digits, for scales and titles.
function axes.number(x)
  if x ~= x then return "nan" end
  return tidy(("%.4g"):format(x))
end

-- Widens a range that holds one value only, so that the value stands in the middle.
function axes.widen(lo, hi)
  if hi / 2 - lo / 2 > 0 then return lo, hi end
  local room = lo == 0 and 1 or math.abs(lo) / 2
  return math.max(lo - room, -LARGEST), math.min(hi + room, LARGEST)
end

-- The smallest step m 10^e that needs at most `count` of them from lo to hi: m and e.
function axes.step(lo, hi, count)
  local raw = hi / count - lo / count
  local e = math.floor(math.log(math.max(raw, 0x1p-1022), 10))
  for _, m in ipairs {1, 2, 5} do
    if m * 10.0 ^ e >= raw then return m, e end
  end
  return 1, e + 1
end

-- The n-th multiple of a step m 10^e, as close as a double gets.
function axes.multiple(n, m, e)
  if e >= 0 then return n * m * 10.0 ^ e end
  if e < -300 then return n * m * 10.0 ^ e end
  return n * m / 10.0 ^ -e
end

-- A function from multiples of 10^e, none larger than `largest`, to texts of one format.
function axes.format(largest, e)
  if largest < PLAIN_BELOW and e >= -PLAIN_DIGITS then
    local format = ("%%.%df"):format(math.max(0, -e))
    return function(x) return tidy(format:format(x)) end
  end
  local digits = math.floor(math.log(largest, 10)) - e
  local format = ("%%.%de"):format(math.max(0, math.min(digits, 16)))
  return function(x) return x == 0 and "0" or tidy(format:format(x)) end
end

local function linear_ticks(axis, lo, hi, count, whole)
  local m, e = axes.step(lo, hi, count)
  if whole and e < 0 then m, e = 1, 0 end
  local step = axes.multiple(1, m, e)
  local first = math.ceil(lo / step - 1e-9)
  local text = axes.format(math.max(math.abs(lo), math.abs(hi)), e)
  for i = 0, count do
    local x = axes.multiple(first + i, m, e)
    local at = axis.place(x)
    if not at or at > 1 + 1e-9 then return end
    axis.ticks[#axis.ticks + 1] = {at = math.max(0, math.min(at, 1)), text = text(x)}
  end
end

-- Ticks at 10^e for every `each`-th e, times each of the factors.
local function decades(axis, each, factors)
  local first, last = math.floor(axis.lo_exponent), math.ceil(axis.hi_exponent)
  for e = first + -first % each, last, each do
    for _, m in ipairs(factors) do
      local x = axes.multiple(1, m, e)
      local at = axis.place(x)
      if at and at >= -1e-9 and at <= 1 + 1e-9 then
        axis.ticks[#axis.ticks + 1] = {at = math.max(0, math.min(at, 1)), text = axes.number(x)}
      end
    end
  end
end

local function log_ticks(axis, lo, hi, count)
  local span = axis.hi_exponent - axis.lo_exponent
  if span >= 1.5 then
    decades(axis, math.max(1, math.ceil(span / count)), span * 3 <= count and {1, 2, 5} or {1})
  else
    decades(axis, 1, {1, 2, 5})
  end
  if #axis.ticks < 2 then
    axis.ticks = {}
    linear_ticks(axis, lo, hi, count)
  end
end

function axes.new(lo, hi, opt)
  local axis = {ticks = {}}
  if opt.log then
    axis.lo_exponent, axis.hi_exponent = math.log(lo, 10), math.log(hi, 10)
    local span = axis.hi_exponent - axis.lo_exponent
    function axis.place(x)
      return x > 0 and (math.log(x, 10) - axis.lo_exponent) / span or nil
    end
    log_ticks(axis, lo, hi, opt.count)
  else
    local span = hi / 2 - lo / 2
    function axis.place(x) return (x / 2 - lo / 2) / span end
    linear_ticks(axis, lo, hi, opt.count, opt.whole)
  end
  return axis
end

return axes
