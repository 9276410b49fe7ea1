-- profile(f): what the kernels that f runs on the emulated device ask of memory.

local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local test, is, raises = tap.test, tap.is, tap.raises

if not pcall(emu) then
  tap.skip("profile", "this build has no emulated device")
  tap.done()
end

local host = require "tarn.host"

local x = ones(64, 4, {device = "emu"})

local function row_of(report, op)
  for _, row in ipairs(report.rows) do
    if row.op == op then return row end
  end
end

test("neighbours side by side: a warp reads 32 floats in 4 sectors", function()
  local p = profile(function() return x:exp() end)
  local row = row_of(p, "load")
  is({row.space, row.width, row.requests, row.bytes}, {"global", 4, 8, 1024})
  is({row.actual, row.least, row.cost}, {32, 32, 1024})
  assert(row.file:find("elementwise.cu$") and row.line > 0 and row.kernel ~= "")
  is(p.verdict, "every line asks memory for no more than it needs")
end)

test("neighbours far apart: a transposed view costs a sector for each float", function()
  local wide = ones(32, 32, {device = "emu"})
  local p = profile(function() return wide:t() + 1 end)
  local row = row_of(p, "load")
  is({row.actual // row.requests, row.least // row.requests}, {32, 4})
  assert(p.verdict:find("^worst: elementwise%.cu:%d+ in .-, global load: 32 sectors a request " ..
    "where 4 would do; neighbouring threads use addresses far apart$"), p.verdict)
  assert(tostring(p):find(p.verdict:sub(1, 20), 1, true))
end)

test("neighbours that begin within a sector take one more, and the verdict says that", function()
  local x = ones(70, {device = "emu"})
  for start, sectors in pairs {[1] = 4, [2] = 5, [9] = 4, [17] = 4, [24] = 5} do
    local view = x[{{start, start + 31}}]
    local p = profile(function() return view:exp() end)
    for _, row in ipairs(p.rows) do
      local load = row.op == "load"
      is({row.requests, row.actual, row.least, row.shifted},
        {1, load and sectors or 4, 4, load and sectors - 4 or 0})
    end
    is(p.verdict:find("but begin within a sector", 1, true) ~= nil, sectors == 5)
  end
end)

test("rows are in the order of what they cost", function()
  local p = profile(function() return prefix(x, x, x) end)
  assert(#p.rows > 10)
  for i = 2, #p.rows do assert(p.rows[i - 1].cost >= p.rows[i].cost) end
  local spaces = {}
  for _, row in ipairs(p.rows) do
    spaces[row.space] = true
    assert(row.actual >= row.least and row.requests > 0)
  end
  is(spaces, {global = true, shared = true})
end)

-- Wavefronts of shared memory above the least, by all kernels that f runs.
local function conflicts(f)
  local sum = 0
  for _, row in ipairs(profile(f).rows) do
    if row.space == "shared" then sum = sum + row.actual - row.least end
  end
  return sum
end

test("tensor cores read and write their squares without a bank conflict", function()
  local q = randn(2, 70, 66, {device = "emu", seed = 1})
  local out = randn(2, 70, 66, {device = "emu", seed = 2})
  local forms = {
    sim = function(o) o.causal = true; return sim(q, q, q, o) end,
    rbf = function(o) o.by = "rbf"; return sim(q, q, q, o) end,
    sim_grad = function(o) o.causal = true; return sim_grad(q, q, q, out, o) end,
    assoc = function(o) return assoc(q, q, q, o) end,
    assoc_grad = function(o) return assoc_grad(q, q, q, out, o) end,
    prefix = function(o) return prefix(q, q, q, o) end,
    super = function(o) return prefix(q[{{}, {}, {1, 64}}], q[{{}, {}, {1, 64}}], q, o) end,
    prefix_grad = function(o) return prefix_grad(q, q, q, out, o) end,
  }
  for name, f in pairs(forms) do
    for _, kind in ipairs {"tf32", "bf16"} do
      is({name, kind, conflicts(function() return f {precision = kind} end)}, {name, kind, 0})
    end
  end
  assert(conflicts(function() return forms.sim {impl = "k2"} end) > 0, "the count is of something")
end)

test("what f gives is passed on, nil too", function()
  local p = profile(function() return x:exp(), nil, 3 end)
  is({p.results.n, p.results[2] == nil, p.results[3]}, {3, true, 3})
  is(p.results[1].device, "emu")
end)

test("a report counts its own run alone", function()
  local first = #profile(function() return x:exp() end).rows
  is(#profile(function() return x:exp() end).rows, first)
end)

test("every n-th block is watched", function()
  local big = ones(8192, {device = "emu"})
  local all = row_of(profile(function() return big:exp() end), "load").requests
  local some = row_of(profile(function() return big:exp() end, {every = 4}), "load").requests
  assert(some > 0 and some <= all // 2, all .. " " .. some)
end)

test("f that runs no kernel gives a message", function()
  local p = profile(function() return 1 end)
  is(#p.rows, 0)
  assert(tostring(p):find("^profile: no kernel of the emulated device ran"))
end)

test("an error in f comes out as it is, and the profiler is off again", function()
  raises("sum: the tensor is on emu, which can't do this; use t:to(\"cpu\")", profile,
    function() return x:sum() end)
  is(#profile(function() return 1 end).rows, 0)
end)

test("a profile in a profile, and what is no function, are refused", function()
  raises("profile: it runs already; one f can't profile another", profile,
    function() profile(print) end)
  raises("profile: f is nil, expected a function; hint: profile(function() return sim(q, k, " ..
    "v) end)", profile)
  raises("profile: unknown option 'evry'; did you mean 'every'?", profile, print, {evry = 2})
  raises("profile: every is 0, expected a whole number from 1 to 1000", profile, print,
    {every = 0})
end)

test("the report fits a window of 40 columns, and 80", function()
  local columns = host.columns
  local p = profile(function() return prefix(x, x, x), sim(x, x, x) end)
  for _, width in ipairs {40, 80} do
    host.columns = function() return width end
    local text = tostring(p)
    for line in text:gmatch("[^\n]+") do assert(utf8.len(line) <= width, line) end
    assert(text:find("\n  and %d+ more\n") and text:find("\nworst: "))
  end
  host.columns = columns
end)

tap.done()
