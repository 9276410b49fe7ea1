-- NUM-08 on a device: q and k near the end of the range give what the cpu gives, the right
-- value or a refusal, by every form and kernel; NaN and Inf that were put in are data.
local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local test, is, raises = tap.test, tap.is, tap.raises

if not pcall(emu) then
  test("a build without the emulated device has no kernels", function() end)
  tap.done()
end

local beyond = "q, k, v are finite, but their sums are beyond "

-- What a call comes to: its tensors on the host, or "refused".
local function outcome(f, ...)
  local results = table.pack(pcall(f, ...))
  if not results[1] then
    assert(results[2]:find(beyond, 1, true), results[2])
    return "refused"
  end
  for i = 2, results.n do results[i - 1] = results[i]:to("cpu"):to("float64") end
  results[results.n] = nil
  return results
end

local function largest(t) return t:abs():max() end

-- Both refuse, or agree within a part of the largest entry that there is on the cpu.
local function agree(name, f, args, opt, tolerance)
  local here = outcome(f, table.unpack(args.cpu))
  local there = outcome(f, table.unpack(args.emu))
  if type(here) ~= type(there) then
    error(("%s %s: cpu %s, emu %s"):format(name, opt, here, there), 0)
  end
  for i = 1, here == "refused" and 0 or #here do
    local far = (here[i] - there[i]):abs():max()
    if not (far <= tolerance * largest(here[i])) then
      error(("%s %s, result %d: off by %g of %g"):format(name, opt, i, far, largest(here[i])), 0)
    end
  end
  return here == "refused"
end

local function on(device, tensors)
  local moved = {}
  for i, t in ipairs(tensors) do moved[i] = t:to(device) end
  return moved
end

local function both(tensors) return {cpu = on("cpu", tensors), emu = on("emu", tensors)} end

local maps = {"elu1", "relu", "relu2", "poly2", "identity", "exp_features",
  "softplus"}

-- Every form with every map or similarity, as functions of q, k, v (and dout).
local function each_form(f)
  for _, by in ipairs {"softmax", "rbf", table.unpack(maps)} do
    for _, causal in ipairs {false, true} do
      local opt = {by = by, causal = causal}
      f("sim " .. by, function(q, k, v) return sim(q, k, v, opt) end)
      f("sim_grad " .. by, function(q, k, v) return sim_grad(q, k, v, v, opt) end)
    end
  end
  for _, phi in ipairs(maps) do
    local opt = {phi = phi}
    f("assoc " .. phi, function(q, k, v) return assoc(q, k, v, opt) end)
    f("prefix " .. phi, function(q, k, v) return prefix(q, k, v, opt) end)
    f("rnn " .. phi, function(q, k, v)
      local cell = rnn {D = q.shape[2], M = v.shape[2], phi = phi, dtype = q.dtype,
        device = q.device}
      return cell:run(q, k, v)
    end)
    for _, name in ipairs {"assoc_grad", "prefix_grad", "rnn_grad"} do
      f(name .. " " .. phi, function(q, k, v) return _G[name](q, k, v, v, opt) end)
    end
  end
end

for dtype, sizes in pairs {float32 = {1e15, 1e19, 1e30, 3e38}, float64 = {1e154, 1e300}} do
  test("random q and k of any size give what they give on the cpu, " .. dtype, function()
    local refused, fine = 0, 0
    for _, size in ipairs(sizes) do
      local q = randn(6, 8, {seed = 3, dtype = dtype}):maximum(-1.1):minimum(1.1) * size
      local args = both {q, q, range(1, 6, {dtype = dtype}):reshape(6, 1)}
      each_form(function(name, f)
        local tolerance = dtype == "float32" and 1e-4 or 1e-10
        if agree(name, f, args, size, tolerance) then refused = refused + 1
        else fine = fine + 1 end
      end)
    end
    assert(refused > 20 and fine > 50, refused .. " refused, " .. fine .. " fine")
  end)
end

test("q and k of 1e19 give running means by every kernel, NUM-08", function()
  local tol = {tf32 = 2^-9, bf16 = 2^-6}
  local q, v = full({4, 8}, 1e19, {device = "emu"}), tensor({{1}, {2}, {3}, {4}}, {device = "emu"})
  for _, impl in ipairs {"k1", "k2", "tf32", "bf16"} do
    for _, f in ipairs {prefix, function(...) return sim(...) end} do
      local opt = f == prefix and {impl = impl} or {impl = impl, causal = true}
      local far = maxdiff(f(q, q, v, opt):to("cpu"), tensor {{1}, {1.5}, {2}, {2.5}})
      assert(far <= (tol[impl] or 1e-6), impl .. ": " .. far)
    end
    local out = {sim_grad(q, q, v, v, {impl = impl, causal = true})}
    for i = 1, 3 do assert(largest(out[i]:to("cpu")) < math.huge, impl) end
    local means = assoc(q, q, v, {impl = impl}):to("cpu")
    assert(maxdiff(means, full({4, 1}, 2.5)) <= (tol[impl] or 1e-6), impl)
  end
end)

test("what overflows is refused by every kernel, with the cpu's words", function()
  local q = full({4, 8}, 1e19, {device = "emu"})
  for name, f in pairs {assoc = assoc, prefix = prefix} do
    for _, impl in ipairs {"k1", "k2", "tf32", "bf16"} do
      raises(name .. ": " .. beyond .. "float32; hint: scale them down or use float64", f, q, q,
        q, {phi = "poly2", impl = impl})
    end
  end
end)

-- Each form with features beyond float32's square root, as a function of q, k, v and a rung.
local function each_ladder(f)
  for _, causal in ipairs {false, true} do
    local name = causal and " causal" or ""
    f("sim" .. name, function(q, k, v, impl)
      return sim(q, k, v, {by = "poly2", causal = causal, impl = impl})
    end)
    f("sim_grad" .. name, function(q, k, v, impl)
      return sim_grad(q, k, v, v, {by = "poly2", causal = causal, impl = impl})
    end)
  end
  for _, name in ipairs {"assoc", "prefix"} do
    f(name, function(q, k, v, impl) return _G[name](q, k, v, {phi = "poly2", impl = impl}) end)
  end
  for _, name in ipairs {"assoc_grad", "prefix_grad", "rnn_grad"} do
    f(name, function(q, k, v, impl) return _G[name](q, k, v, v, {phi = "poly2", impl = impl}) end)
  end
  for _, method in ipairs {"run", "step"} do
    f("rnn:" .. method, function(q, k, v, impl)
      local st = rnn {D = 8, M = 2, phi = "poly2", dtype = q.dtype, device = "emu", impl = impl}
      if method == "run" then return st:run(q, k, v) end
      local out = {}
      for i = 1, #q do out[i] = st:step(q[i], k[i], v[i]) end
      return table.unpack(out)
    end)
  end
end

-- The rungs of a ladder: who asks for another one is told them.
local function rungs_of(f, q, k, v)
  local names, _, message = {}, pcall(f, q, k, v, "plain")
  for name in message:match("expected (.*) on emu"):gmatch('"(%w+)"') do
    names[#names + 1] = name
  end
  return names
end

test("a denominator beyond the range is refused by every rung of every form, not a result of 0",
  function()
    local count, wrong = 0, {}
    for dtype, sizes in pairs {float32 = {1.5e18, 1e-30}, float64 = {1.1e153, 1e-200}} do
      local q = full({12, 8}, sizes[1], {dtype = dtype, device = "emu"})
      local v = full({12, 2}, sizes[2], {dtype = dtype, device = "emu"})
      each_ladder(function(name, f)
        for _, impl in ipairs(rungs_of(f, q, q, v)) do
          count = count + 1
          if outcome(f, q, q, v, impl) ~= "refused" then
            wrong[#wrong + 1] = ("%s %s %s"):format(name, impl, dtype)
          end
        end
      end)
    end
    is(table.concat(wrong, ", "), "")
    assert(count > 50, count .. " rungs")
  end)

test("NaN and Inf that were put in are data, and an overflow in another head is none of theirs",
  function()
    local q = randn(2, 5, 3, {seed = 1})
    q[{1, 2, 1}] = 0 / 0
    q[{1, 3, 1}] = 1 / 0
    local there = q:to("emu")
    local out = prefix(there, there, there):to("cpu")
    is(out[{1, 5, 1}] ~= out[{1, 5, 1}], true)
    is(out[2]:abs():max() < 10, true)
    q[2]:fill(1e19)
    there = q:to("emu")
    raises("prefix: " .. beyond .. "float32; hint: scale them down or use float64", prefix,
      there, there, there, {phi = "poly2"})
  end)

test("keys past their length may be NaN, and hide no overflow", function()
  local q = full({2, 1, 4, 3}, 1e19)
  q[{{}, {}, {3, 4}}]:fill(0 / 0)
  local there, few = q:to("emu"), {lengths = {2, 2}, phi = "poly2"}
  raises("assoc: " .. beyond .. "float32; hint: scale them down or use float64", assoc,
    full({2, 1, 4, 3}, 1e19, {device = "emu"}), there, there, few)
end)

test("a step that overflows says that the state did, and the next one goes on from it", function()
  local st = rnn {D = 3, M = 2, phi = "poly2", device = "emu"}
  local large, small = full({3}, 1e25, {device = "emu"}), ones(3, {device = "emu"})
  local v = ones(2, {device = "emu"})
  st:step(small, small, v)
  raises("rnn:step: " .. beyond .. "float32, and so is the state, which has taken the token; " ..
    "hint: scale them down or use float64", st.step, st, large, large, v)
  -- What is in the state now is data.
  local out = st:step(small, small, v):to("cpu")
  assert(out[1] ~= out[1] or out[1] == 0, out[1])
  st:reset()
  is(st:step(small, small, v):to("cpu"):max() > 0.9, true)
end)

-- Two heads step with k = 1 and then with the k given, v so small that S stays what it was.
local function step_far(device, impl, k, v)
  local st = rnn {H = 2, D = 2, M = 2, phi = "identity", device = device, impl = impl}
  local one = ones(2, 2, {device = device})
  st:step(one, one, one)
  local ok, why = pcall(st.step, st, one, k:to(device), v:to(device))
  return st, ok or why
end

test("a token whose step overflows is in the state and counted, on every device alike", function()
  local far = "rnn:step: " .. beyond .. "float32%s; hint: scale them down or use float64"
  local alone, all = "; the state is not, and has taken the token",
    ", and so is the state, which has taken the token"
  for _, at in ipairs {{"cpu"}, {"cpu", "plain"}, {"emu"}, {"emu", "k1"}} do
    for head = 1, 2 do
      local k = ones(2, 2)
      k[head] = 3e38
      local st, why = step_far(at[1], at[2], k, full({2, 2}, 1e-30))
      is(why, far:format(alone))
      is(st.t, 2)
      local z = st.z:to("cpu")
      is(z[3 - head], {2, 2})
      is(maxdiff(z[head], full({2}, 3e38)), 0.0)
      local _, lost = step_far(at[1], at[2], k, full({2, 2}, 3e38))
      is(lost, far:format(all))
    end
  end
end)

test('precision="fast" looks at nothing, as on the cpu', function()
  local q = full({4, 8}, 1e19, {device = "emu"})
  local out = prefix(q, q, q, {phi = "poly2", precision = "fast"}):to("cpu")
  assert(out[{1, 1}] ~= out[{1, 1}])
end)

tap.done()
