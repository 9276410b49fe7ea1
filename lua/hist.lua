-- hist.lua: hist(t), how often numbers of which size occur, as bars.
--
--   - Without {bins=} the edges are round numbers: multiples of 1, 2 or 5 times a power of
--     ten, about as many as suit the count of numbers. Whole numbers that are close together
--     have a bin each.
--   - A bin holds its lower edge, not its upper one; the last of given bins holds both.
--   - A tensor is read in pieces, and what repeats in it (expand) is read once.

local tarn = require "tarn"
local host = require "tarn.host"
local axes = require "tarn.axes"
local canvas = require "tarn.canvas"
local gnuplot = require "tarn.gnuplot"
local options = require "tarn.options"

local known = {title = "text", bins = "count", log = "flag", range = "range", width = "count",
  file = "path"}

local PIECE = 65536 -- elements that are in Lua at a time
local LEAST_BAR = 8

local eighths = {"▏", "▎", "▍", "▌", "▋", "▊", "▉"}

-- ---- reading --------------------------------------------------------------------------

-- Calls f(list, times) for pieces of t, each element of a piece occurring so many times.
local function each_piece(t, times, f)
  for d, stride in ipairs(t.strides) do
    if stride == 0 and t.shape[d] > 1 then
      local first = {}
      for i = 1, d do first[i] = {} end
      first[d] = {1, 1}
      return each_piece(t[first], times * t.shape[d], f)
    end
  end
  local n = t:numel()
  if n <= PIECE then return f(t:reshape(n):totable(), times) end
  if #t == 1 then return each_piece(t[1], times, f) end
  local half = #t // 2
  each_piece(t[{{1, half}}], times, f)
  each_piece(t[{{half + 1, #t}}], times, f)
end

-- What there is: the range of the finite numbers, how many they are, and what is left out.
local function survey(t)
  local facts = {lo = math.huge, hi = -math.huge, finite = 0, nan = 0, infinite = 0,
    whole = true}
  if t:numel() == 0 then return facts end
  each_piece(t, 1, function(list, times)
    for _, x in ipairs(list) do
      if x - x == 0 then
        facts.finite = facts.finite + times
        facts.whole = facts.whole and x % 1 == 0
        facts.lo, facts.hi = math.min(facts.lo, x), math.max(facts.hi, x)
      elseif x ~= x then
        facts.nan = facts.nan + times
      else
        facts.infinite = facts.infinite + times
      end
    end
  end)
  return facts
end

-- ---- bins -----------------------------------------------------------------------------

-- n bins of one width.
local function equal_bins(lo, hi, n)
  local edges = {}
  for i = 0, n do edges[i + 1] = lo * (1 - i / n) + hi * (i / n) end
  local _, e = axes.step(lo, hi, 100 * n)
  return {edges = edges, exponent = e, closed = true}
end

-- Bins whose edges are round numbers, if doubles reach so far.
local function round_bins(lo, hi, count, whole)
  local m, e = axes.step(lo, hi, count)
  if whole and e < 0 then m, e = 1, 0 end
  local step = axes.multiple(1, m, e)
  whole = whole and step == 1
  local first, last = math.floor(lo / step), whole and hi // step + 1 or math.ceil(hi / step)
  local edges = {}
  for n = first, last do edges[#edges + 1] = axes.multiple(n, m, e) end
  if edges[1] == -math.huge or edges[#edges] == math.huge then return equal_bins(lo, hi, count) end
  return {edges = edges, exponent = e, closed = not whole}
end

-- The bins for the options and the numbers, without counts.
local function choose_bins(facts, opt)
  local lo, hi = facts.lo, facts.hi
  if opt.range then lo, hi = table.unpack(opt.range) end
  local single = lo == hi
  lo, hi = axes.widen(lo, hi)
  if opt.bins or opt.range then return equal_bins(lo, hi, opt.bins or 10) end
  local suited = single and 0 or math.ceil(math.log(facts.finite, 2)) + 1
  return round_bins(lo, hi, math.max(5, math.min(suited, 20)), facts.whole)
end

-- The bin of x: by division, then corrected where that was rounded; nil outside.
local function bin_of(bins, x)
  local edges, n = bins.edges, #bins.edges - 1
  local lo, hi = edges[1], edges[n + 1]
  if x < lo or x > hi or (x == hi and not bins.closed) then return end
  local i = math.floor((x / 2 - lo / 2) / (hi / 2 - lo / 2) * n) + 1
  i = math.max(1, math.min(i, n))
  if x < edges[i] then return i - 1 end
  if i < n and x >= edges[i + 1] then return i + 1 end
  return i
end

local function count(t, bins)
  bins.outside = 0
  for i = 1, #bins.edges - 1 do bins[i] = 0 end
  each_piece(t, 1, function(list, times)
    for _, x in ipairs(list) do
      if x - x == 0 then
        local i = bin_of(bins, x)
        if i then bins[i] = bins[i] + times else bins.outside = bins.outside + times end
      end
    end
  end)
end

-- ---- drawing --------------------------------------------------------------------------

-- A bar of so many columns; what is not 0 is seen.
local function bar(length)
  if length <= 0 then return "" end
  if not host.utf8 then return ("#"):rep(math.max(1, math.floor(length + 0.5))) end
  local parts = math.max(1, math.floor(length * 8 + 0.5))
  return ("█"):rep(parts // 8) .. (eighths[parts % 8] or "")
end

-- "[ -1, -0.5)" for each bin, all of one width.
local function labels(bins)
  local edges, texts, width = bins.edges, {}, 0
  local format = axes.format(math.max(math.abs(edges[1]), math.abs(edges[#edges])), bins.exponent)
  for i, edge in ipairs(edges) do
    texts[i] = format(edge)
    width = math.max(width, #texts[i])
  end
  local list, n = {}, #edges - 1
  local form = ("[%%%ds, %%%ds%%s"):format(width, width)
  for i = 1, n do
    list[i] = form:format(texts[i], texts[i + 1], i == n and bins.closed and "]" or ")")
  end
  return list
end

local function render(bins, opt)
  local names, most = labels(bins), 0
  for _, c in ipairs(bins) do most = math.max(most, c) end
  local size = opt.log and function(c) return math.log(1 + c, 10) end or function(c) return c end
  local digits = #tostring(most)
  local room = math.max(LEAST_BAR, (opt.width or host.columns()) - #names[1] - digits - 4)
  local lines = {opt.title}
  for i, c in ipairs(bins) do
    local line = ("%s  %" .. digits .. "d  %s"):format(names[i], c,
      bar(most > 0 and size(c) / size(most) * room or 0))
    lines[#lines + 1] = line:gsub(" +$", "")
  end
  return lines
end

-- How many numbers there are, and which of them the bars leave out.
local function summary(facts, outside)
  local text = ("%d number%s"):format(facts.finite, facts.finite == 1 and "" or "s")
  if facts.finite > 0 then
    text = text .. (" from %s to %s"):format(axes.number(facts.lo), axes.number(facts.hi))
  end
  local parts = {}
  local function left_out(n, kind)
    if n > 0 then parts[#parts + 1] = n .. " " .. kind end
  end
  left_out(outside, "out of range")
  left_out(facts.nan, "NaN")
  left_out(facts.infinite, "infinite")
  return text .. (#parts > 0 and "; left out: " .. table.concat(parts, ", ") or "")
end

local function write_file(bins, opt)
  local lines = {"unset key", "set style fill solid 0.5", "set yrange [0:*]", "$bins << END"}
  if opt.log then lines[3] = "set logscale y\nset yrange [0.5:*]" end
  for i, c in ipairs(bins) do
    local lo, hi = bins.edges[i], bins.edges[i + 1]
    lines[#lines + 1] = ("%.17g %d %.17g"):format(lo / 2 + hi / 2, c, hi - lo)
  end
  lines[#lines + 1] = "END"
  gnuplot.texts(lines, opt)
  lines[#lines + 1] = "plot $bins using 1:2:3 with boxes"
  gnuplot.write("hist", opt.file, lines)
end

-- help: hist(t, {bins=, range=, log=, title=, width=, file=})
-- Counts how often numbers of which size occur, and draws the counts as bars.
-- shapes: t of any shape, or a list of numbers
-- math: none  cost: O(numel)
-- errors: what is no tensor and no list, an unknown option, a file that does not end in .svg
--   or .png
-- options: bins  how many, all of one width; otherwise their edges are round numbers
--   range  {low, high} of the bins, otherwise that of the numbers
--   log    true: bars as long as the logarithm of 1 + count
--   title  a line above the picture
--   width  columns of the picture, otherwise those of the window
--   file   "x.svg" or "x.png": written by gnuplot instead
-- example:
--   > hist({0, 1, 1, 1, 2, 2, 0/0}, {width=30})
--   [0, 1)  1  ██████▍
--   [1, 2)  3  ███████████████████
--   [2, 3)  2  ████████████▋
--   6 numbers from 0 to 2; left out: 1 NaN
-- note: a bin [a, b) holds a, not b.
-- see: plot, heat
function tarn.hist(t, opt)
  if type(opt) == "number" then opt = nil end -- mnist(i) gives its label too
  opt = options.check("hist", opt, known)
  if opt.file then gnuplot.check("hist", opt.file) end
  t = options.tensor("hist", t, "a tensor or a list of numbers")
  local facts = survey(t)
  if facts.finite == 0 then
    error("hist: there are no numbers to draw: " .. summary(facts, 0), 0)
  end
  local bins = choose_bins(facts, opt)
  count(t, bins)
  if opt.file then return write_file(bins, opt) end
  local lines = render(bins, opt)
  if opt.log then canvas.say(lines, "bars are as long as the logarithm of 1 + count") end
  canvas.say(lines, summary(facts, bins.outside))
  io.write(table.concat(lines, "\n"), "\n")
end
