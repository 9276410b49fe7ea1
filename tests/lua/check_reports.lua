-- equiv, gradcheck, backends, bench and time: what they report.

local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local test, is, raises = tap.test, tap.is, tap.raises

local q, k = randn(2, 70, 5, {seed = 1}), randn(2, 70, 5, {seed = 2})
local v = randn(2, 70, 3, {seed = 3})

local function forms(report)
  local seen = {}
  for _, row in ipairs(report.rows) do seen[row.form .. " " .. row.dtype] = true end
  return seen
end

test("every causal form agrees with the oracle in both types", function()
  local report = equiv(q, k, v)
  is(report.ok, true)
  local seen = forms(report)
  for _, form in ipairs {"sim", "prefix sequential", "prefix chunked", "prefix scan", "rnn"} do
    is(seen[form .. " float32"] and seen[form .. " float64"], true)
  end
end)

test("a row tells all there is to know", function()
  local row = equiv(q, k, v, {dtypes = {"float32"}, impls = {"plain"}, devices = {"cpu"}}).rows[1]
  is({row.form, row.impl, row.device}, {"sim", "plain", "cpu"})
  is({row.dtype, row.what}, {"float32", "out"})
  for _, field in ipairs {"max_abs", "max_rel", "tol", "seconds", "state_bytes"} do
    is(type(row[field]), "number")
  end
  is(row.ok, row.max_rel <= row.tol)
  is(#row.worst.index, 3)
  local head, token, column = table.unpack(row.worst.index)
  assert(head >= 1 and head <= 2 and token >= 1 and token <= 70 and column >= 1 and column <= 3)
  is({type(row.worst.got), type(row.worst.expected)}, {"number", "number"})
end)

test("not causal, softmax, a function, gradients, a state", function()
  is(forms(equiv(q, k, v, {causal = false}))["assoc float64"], true)
  local soft = equiv(q, k, v, {by = "softmax"})
  is({soft.ok, forms(soft)["kv float32"]}, {true, true})
  is(equiv(q, k, v, {phi = function(x) return x:exp() end}).ok, true)
  is(equiv(q, k, v, {by = "poly2", causal = false, grad = true}).ok, true)
  local st = rnn {H = 2, D = 5, M = 3}
  st:run(q, k, v)
  local report = equiv(q, k, v, {state = st, grad = true})
  is(report.ok, true)
  local seen = {}
  for _, row in ipairs(report.rows) do seen[row.what] = true end
  for _, what in ipairs {"out", "dq", "dk", "dv", "dS0", "dz0"} do is(seen[what], true) end
  raises("equiv: the feature map is a function without its derivative; hint: give " ..
    "{apply=function(t) .. end, grad=function(t, dfeatures) .. end}", equiv, q, k, v,
    {phi = function(x) return x:exp() end, grad = true})
end)

test("a bound that can't be met is reported, not raised", function()
  local report = equiv(q, k, v, {tol = 0, dtypes = {"float32"}})
  is(report.ok, false)
  local text = tostring(report)
  assert(text:find("beyond their bounds", 1, true), text)
  assert(text:find("worst: sim plain float32, out%[%d+, %d+, %d+%]: got %S+, expected %S+"), text)
end)

test("a wrong feature map is found: one that depends on the position of its rows", function()
  local drift = function(x) return x:exp() + range(1, #x):reshape(#x, 1):to(x.dtype) end
  local ok, report = pcall(equiv, q, k, v, {phi = drift})
  assert(not ok or not report.ok)
end)

test("reports and lists fit a window of 40 columns, and say what there is no room for", function()
  local host = require "tarn.host"
  local columns = host.columns
  host.columns = function() return 40 end
  local report = tostring(equiv(q, k, v, {impls = {"plain"}}))
  local widest = tostring(equiv(q, k, v, {grad = true}))
  for _, value in ipairs {report, widest, tostring(phis()), tostring(backends())} do
    for line in value:gmatch("[^\n]+") do assert(utf8.len(line) <= 40, line) end
  end
  host.columns = columns
  assert(report:find("rnn step +float64 +%S+  =\n"), report)
  assert(report:find("no room for max_abs, state bytes, time,\n"), report)
end)

test("a report is a table of at most 100 columns, without times if they are to be quiet",
  function()
    local tarn = require "tarn"
    local text = tostring(equiv(q, k, v))
    assert(text:find("^equiv: %d+ rows, all within their bounds %(cpu, out%)\n"), text)
    for line in text:gmatch("[^\n]+") do assert(utf8.len(line) <= 100, line) end
    assert(text:find("%d [mn]?s%f[%W]") or text:find("µs", 1, true) or text:find("us", 1, true))
    tarn.quiet_times = true
    text = tostring(equiv(q, k, v, {grad = true}))
    tarn.quiet_times = nil
    assert(not text:find("%d [mn]s%f[%W]") and not text:find("%d [µu]s"), text)
    for line in text:gmatch("[^\n]+") do assert(utf8.len(line) <= 100, line) end
  end)

test("gradients agree with central differences", function()
  local a, b, c = q[{1, {1, 6}}], k[{1, {1, 6}}], v[{1, {1, 6}}]
  for _, form in ipairs {"sim", "assoc", "prefix", "rnn"} do
    local report = gradcheck(form, a, b, c)
    is(report.ok, true)
    assert(#report.rows >= 3)
    assert(tostring(report):find("^gradcheck: %d+ rows"))
  end
  local wrong = {apply = function(x) return x:exp() end, grad = function(x, d) return d end}
  is(gradcheck("prefix", a, b, c, {phi = wrong}).ok, false)
  is(gradcheck("sim", a, b, c, {by = "rbf", causal = true}).ok, true)
end)

test("backends() tells what there is", function()
  local list = backends()
  is({list[1].name, list[1].device, list[1].compiled, list[1].usable, list[1].why},
    {"fast", "cpu", true, true, ""})
  assert(tostring(list):find("^name +device +isa +compiled +usable"))
end)

test("backends() tells the instruction set in use, which TARN_ISA chooses", function()
  local words = {["baseline"] = true, ["x86-64-v3"] = true, ["x86-64-v4"] = true}
  assert(words[backends()[1].isa])
  is(backends()[2].isa, "baseline")
end)

test("time gives seconds, then results", function()
  local seconds, a, b, c = time(function() return 1, nil, 3 end)
  is({type(seconds), a, b, c}, {"number", 1, nil, 3})
  assert(seconds >= 0 and seconds < 10)
end)

test("bench calls a function as often as it says", function()
  local calls = 0
  local b = bench(function() calls = calls + 1 end, {runs = 5, warmup = 2, flops = 10, bytes = 20})
  is({calls, b.runs}, {7, 5})
  assert(b.min <= b.median and b.median <= b.max and b.iqr >= 0)
  assert(b.bytes_per_s == 2 * b.flops_per_s)
  assert(tostring(b):find("^median .- of 5 runs, from .- to "))
end)

test("the workspace of tuned forms, gradients too, does not grow with N", function()
  local function workspaces(N, opt)
    local found, x = {}, randn(N, 16, {seed = 1})
    opt.dtypes, opt.impls, opt.grad = {"float32"}, {"fast"}, true
    for _, row in ipairs(equiv(x, x, x, opt).rows) do
      found[row.form .. " " .. row.what] = row.workspace_bytes
    end
    return found
  end
  for _, opt in ipairs {{}, {causal = false}, {by = "softmax", causal = true}} do
    local few, many = workspaces(256, opt), workspaces(1024, opt)
    for name, bytes in pairs(few) do
      if not name:find("^kv") then is({name, many[name]}, {name, bytes}) end
    end
    assert(next(few))
  end
end)

-- What the operations of f say of their work: arithmetic, bytes.
local function counted(f)
  local machine = require "tarn.machine"
  local flops, bytes = machine.work()
  f()
  local flops_after, bytes_after = machine.work()
  return {flops_after - flops, bytes_after - bytes}
end

test("every operation counts its own arithmetic and the bytes of inputs and outputs", function()
  local N, D, M = 100, 8, 4
  local q, k, v = randn(N, D, {seed = 1}), randn(N, D, {seed = 2}), randn(N, M, {seed = 3})
  local qkv, state = N * (2 * D + M), D * M + D
  is(counted(function() prefix(q, k, v) end),
    {4 * N * D * M + 0., 4. * (qkv + N * M + 2 * state)})
  is(counted(function() assoc(q, k, v) end), {4 * N * D * M + 0., 4. * (qkv + N * M)})
  is(counted(function() sim(q, k, v) end), {2. * N * N * (D + M), 4. * (qkv + N * M)})
  is(counted(function() sim(q, k, v, {causal = true}) end)[1], 1. * N * (N + 1) * (D + M))
  is(counted(function() prefix_grad(q, k, v, v) end)[1], 10. * N * D * M)
  is(counted(function() q:mm(k:t()) end), {2. * N * N * D, 4. * (2 * N * D + N * N)})
  is(counted(function() return q + k end), {1. * N * D, 12. * N * D})
  local row = ones(1, D)
  is(counted(function() return q + row end)[2], 8. * N * D + 4 * D)
  is(counted(function() q:sum(1) end)[1], 1. * N * D)
  is(counted(function() q:softmax(2) end), {1. * N * D, 8. * N * D})
end)

test("bench gives the rates of what was run, by that count", function()
  local q = randn(64, 64)
  local b = bench(function() return q:mm(q) end, {runs = 3})
  assert(math.abs(b.flops_per_s * b.median / (2 * 64 ^ 3) - 1) < 1e-9)
  assert(math.abs(b.bytes_per_s * b.median / (12 * 64 ^ 2) - 1) < 1e-9)
  assert(tostring(b):find("Gflop/s") and tostring(b):find("GB/s"))
  is(bench(function() end).flops_per_s, nil)
end)

test("bench of a name measures what tarn-bench does, beside the machine's peak", function()
  local b = bench("phi_elu1")
  is(#b.rows, 2)
  is(b.rows[1].dtype .. " " .. b.rows[2].dtype, "float32 float64")
  assert(b.peak > 0 and b.peak64 > 0 and b.isa)
  for _, row in ipairs(b.rows) do
    assert(row.min <= row.median and row.median <= row.max and row.flops_per_s > 0)
    assert(row.rms_error < 1e-6)
    is(row.percent_peak, nil) -- elements are no operations
  end
  assert(tostring(b):find("^phi_elu1: .*, peak .*\ndtype"))
  raises("bench: there is no operation 'prefxi'; did you mean 'prefix'?", bench, "prefxi")
  raises("bench: an operation that is called by its name has no options", bench, "prefix",
    {runs = 3})
end)

test("bench and time refuse what is no function, and options that are none", function()
  raises("bench: f is the number 3, expected a function; hint: bench(function() return " ..
    "sim(q, k, v) end)", bench, 3)
  raises("time: f is nil, expected a function; hint: time(function() return sim(q, k, v) " ..
    "end)", time)
  raises("bench: unknown option 'run'; did you mean 'runs'?", bench,
    print, {run = 3})
  raises("bench: runs is 0, expected a whole number from 1 to 1000", bench, print, {runs = 0})
end)

tap.done()
