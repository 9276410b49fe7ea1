-- tour(): that it runs, fits a terminal, and prints what was measured.

local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local test, is = tap.test, tap.is
local tarn = require "tarn"
local host = require "tarn.host"

local has_digits, why_not = pcall(mnist, 1)
if not has_digits and why_not:find("without zlib", 1, true) then
  tap.skip("the tour", why_not)
  tap.done()
end

-- Runs the tour in this process and gives what it writes.
local function captured()
  local path = os.tmpname()
  local before = io.output()
  io.output(path)
  local ok, why = pcall(tour)
  io.close()
  io.output(before)
  local file <close> = assert(io.open(path))
  local text = file:read("a")
  os.remove(path)
  assert(ok, why)
  return text
end

-- The tour without its measurements of time.
local function hurried(change)
  local bench, utf8_before = tarn.bench, host.utf8
  tarn.bench = function(f) f() return {min = 1} end
  tarn.quiet_times = true
  local undo = change()
  local text = captured()
  undo()
  tarn.bench, tarn.quiet_times, host.utf8 = bench, nil, utf8_before
  return text
end

test("the whole tour goes through, in 80 columns", function()
  local pipe = assert(io.popen("LC_ALL=C.UTF-8 " .. os.getenv("TARN") .. " --no-init -e 'tour()'"))
  local text = pipe:read("a")
  is(pipe:close(), true)
  for line in text:gmatch("[^\n]+") do assert(utf8.len(line) <= 80, line) end
  for _, arrow in ipairs {"≠  softmax → φ", "=  sim → assoc", "≠  full → causal",
    "=  sim causal → prefix, sequential", "=  sim causal → prefix, chunked",
    "=  sim causal → prefix, scan", "=  prefix → rnn, token by token"} do
    assert(text:find("\n  " .. arrow, 1, true), arrow .. "\n" .. text)
  end
  assert(not text:find("Unexpected", 1, true), text)
  assert(text:find("all within their bounds", 1, true), text)
  assert(text:find("\na sim   b assoc   c prefix", 1, true), text)
end)

test("in a narrow window words are folded; formulas and tables stay as they are", function()
  local columns = host.columns
  local text = hurried(function()
    host.columns = function() return 40 end
    return function() host.columns = columns end
  end)
  for line in text:gmatch("[^\n]+") do assert(utf8.len(line) <= 72, line) end
  assert(text:find("\n   eqs 4 to 6\n", 1, true), text)
  assert(text:find("which%s+formulas are one and the same function"), text)
end)

test("without UTF-8 it is plain ASCII", function()
  local text = hurried(function()
    host.utf8 = false
    return function() end
  end)
  assert(not text:find("[\128-\255]"), text)
  assert(text:find("\n  !=  softmax -> phi", 1, true), text)
  for line in text:gmatch("[^\n]+") do assert(#line <= 80, line) end
end)

test("a wrong form is marked: = and ≠ come from the measurement", function()
  local text = hurried(function()
    local assoc, sim = tarn.assoc, tarn.sim
    host.utf8 = true
    tarn.assoc = function(...) return assoc(...) * (1 + 1e-9) end
    -- This sim gives softmax where elu1 is asked for.
    tarn.sim = function(q, k, v, opt)
      if opt and opt.by == "elu1" and not opt.causal then return sim(q, k, v), sim(q, k, v) end
      return sim(q, k, v, opt)
    end
    return function() tarn.assoc, tarn.sim = assoc, sim end
  end)
  assert(text:find("\n  =  softmax → φ", 1, true), text)
  assert(text:find("\n  ≠  sim → assoc", 1, true), text)
  local _, count = text:gsub("Unexpected: theory says", "")
  is(count, 2)
end)

test("it does the same twice, and leaves the number of threads as it was", function()
  local threads = require "tarn.machine".threads
  local before = threads(3)
  local function nothing() return function() end end
  is(hurried(nothing), hurried(nothing))
  is(threads(before), 3)
end)

tap.done()
