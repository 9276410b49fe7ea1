-- Tensors and states on a device: where they are made, what works there, what is refused.
-- The emulated device stands for all of them; a build without it has nothing to test.

local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local test, is, raises = tap.test, tap.is, tap.raises

local has_emu = pcall(emu)
if not has_emu then
  test("a build without the emulated device says so", function()
    local why = "not available: built without a C++ compiler, or --without-emu"
    raises("emu: " .. why, emu)
    raises("profile: " .. why, profile, print)
    raises("zeros: device emu: " .. why, zeros, 2, {device = "emu"})
  end)
  tap.done()
end

-- The same numbers on the emulated device and on the host.
local function both(seed, ...)
  local there = randn(..., {seed = seed, device = "emu"})
  return there, there:to("cpu")
end

local q, q_host = both(1, {2, 20, 5})
local k, k_host = both(2, {2, 20, 5})
local v, v_host = both(3, {2, 20, 3})

local function close(there, host, tolerance)
  is(there.device, "emu")
  local far = maxdiff(there, host)
  assert(far <= (tolerance or 1e-6), far)
end

test("all that makes tensors makes them on a device", function()
  local opt = {device = "emu"}
  for _, t in ipairs {tensor({1, 2}, opt), zeros(2, opt), ones(2, opt), full({2}, 3, opt),
    eye(2, opt), range(1, 3, opt), linspace(0, 1, 3, opt), rand(2, opt), randn(2, opt)} do
    is(t.device, "emu")
  end
  is(rand(4, {seed = 5, device = "emu"}):totable(), rand(4, {seed = 5}):totable())
end)

test("a tensor of a device is shown, drawn, saved and made a table like any other", function()
  local t = tensor({{1, 2}, {3, 4.5}}, {device = "emu"})
  is(tostring(t), "tensor [2, 2] float32 emu\n  1.0  2.0\n  3.0  4.5")
  is(t:totable(), {{1, 2}, {3, 4.5}})
  is({t[1][2], t[{2, 2}], t[{{2, 2}, {1, 1}}]:item()}, {2, 4.5, 3})
  local path = os.tmpname()
  t:save(path)
  is(read(path):totable(), t:totable())
  os.remove(path)
  local written = {}
  local write = io.write
  io.write = function(...) written[#written + 1] = table.concat {...} end
  local ok, why = pcall(function()
    for _, draw in ipairs {heat, hist, plot, show} do draw(t) end
    for _, draw in ipairs {heat, hist, plot, show} do draw(t:to("cpu")) end
  end)
  io.write = write
  assert(ok, why)
  is(#written, 8)
  for i = 1, 3 do is(written[i], written[i + 4]) end
end)

test("a number beside a tensor goes to its device", function()
  is(where(tensor({1, 0}, {device = "emu"}), tensor({5, 6}, {device = "emu"}), 0).device, "emu")
  is(tensor({1, 4}, {device = "emu"}):maximum(2):totable(), {2, 4})
  local both = where(tensor({1, -1}, {device = "emu"}):gt(0), 7, 0)
  is({both.device, both:totable()}, {"emu", {7, 0}})
end)

test("results are compared wherever they lie, beside numbers and other devices too", function()
  local a, b = tensor {1, 2.5}, tensor({1, 2}, {device = "emu"})
  is({maxdiff(a, b), maxdiff(b, a), maxdiff(b, b), maxdiff(b, 1)}, {0.5, 0.5, 0.0, 1.0})
  is({allclose(a, b), allclose(b, a, {atol = 1}), allclose(b, b)}, {false, true, true})
end)

test("one target at a time: a second is not passed over", function()
  raises('to: a second target is a string, expected one; hint: ' ..
    't:to("float64"):to("emu")', zeros(1).to, zeros(1), "float64", "emu")
  raises("mnist: unknown option 'device'; it takes none", mnist, 1, {device = "emu"})
  raises("read: unknown option 'device'; it takes none", read, "x.npy", {device = "emu"})
end)

test("what a device can't do is refused with a way out", function()
  raises('sum: the tensor is on emu, which can\'t do this; use t:to("cpu")', q.sum, q)
  raises("kv: device is 'emu', but a cache lies on the cpu alone; hint: rnn{D=, M=, " ..
    "device='emu'} has a state there", kv, {D = 2, M = 2, device = "emu"})
  raises("prefix: k is on cpu and q on emu, expected both on one device; t:to(device) moves " ..
    "a tensor", prefix, q, k_host, v)
end)

test("gradcheck holds the gradients of a device's kernels for float64 against differences",
  function()
    local a, b, c = q[{1, {1, 5}, {1, 3}}], k[{1, {1, 5}, {1, 3}}], v[{1, {1, 5}, {1, 2}}]
    local ladders = {sim = {"k1", "k2"}, assoc = {"k1", "k2"}, prefix = {"k1", "k2"},
      rnn = {"k1", "k2"}}
    for form, impls in pairs(ladders) do
      for _, impl in ipairs(impls) do
        local report = gradcheck(form, a, b, c, {impl = impl})
        assert(report.ok, tostring(report))
        is(#report.rows, 3)
        for _, row in ipairs(report.rows) do
          is({row.form, row.impl, row.device, row.dtype}, {form, impl, "emu", "float64"})
        end
      end
    end
    is(gradcheck("prefix", a, b, c).rows[1].impl, "k2")
  end)

test("gradcheck on a device notices a wrong gradient, and takes a state that lies there", function()
  local a, b, c = q[{1, {1, 5}, {1, 3}}], k[{1, {1, 5}, {1, 3}}], v[{1, {1, 5}, {1, 2}}]
  local wrong = {apply = function(t) return t:exp() end,
    grad = function(t, df) return t:exp() * df * 1.001 end}
  local report = gradcheck("prefix", a, b, c, {phi = wrong})
  is({report.rows[1].ok, report.rows[2].ok, report.rows[3].ok}, {false, false, true})
  local state = {S = rand(3, 2, {seed = 1}):to("emu"), z = rand(3, {seed = 2}):to("emu")}
  for _, form in ipairs {"prefix", "rnn"} do
    report = gradcheck(form, a, b, c, {state = state})
    assert(report.ok, tostring(report))
    is({report.rows[4].what, report.rows[5].what}, {"dS0", "dz0"})
  end
  raises("prefix: k is on cpu and q on emu, expected both on one device; t:to(device) moves " ..
    "a tensor", gradcheck, "prefix", a, b:to("cpu"), c)
end)

test("each form computes on the device what it does on the host", function()
  close(prefix(q, k, v), prefix(q_host, k_host, v_host))
  close(sim(q, k, v), sim(q_host, k_host, v_host))
  close(sim(q, k, v, {by = "rbf", causal = true}), sim(q_host, k_host, v_host,
    {by = "rbf", causal = true}))
  local here, there = {prefix_grad(q_host, k_host, v_host, v_host)}, {prefix_grad(q, k, v, v)}
  for i = 1, 3 do close(there[i], here[i], 1e-4) end
end)

test("impl names a kernel of a device's ladder", function()
  for _, impl in ipairs {"k1", "k2"} do
    close(prefix(q, k, v, {impl = impl}), prefix(q_host, k_host, v_host))
  end
  local ok, why = pcall(assoc, q, k, v, {impl = "k4"})
  assert(not ok and why:find('^assoc: impl is "k4", expected "k1".* on emu$'), why)
  ok, why = pcall(prefix, q, k, v, {impl = "plain"})
  assert(not ok and why:find('^prefix: impl is "plain", expected "k1".* on emu$'), why)
  raises('prefix: impl is "k1", expected "fast" or "plain"', prefix, q_host, k_host, v_host,
    {impl = "k1"})
  raises("prefix: impl is 'fats', expected one of fast, plain, k1, k2, k3, k4, tf32, tf32k2, " ..
    "bf16, bf16k2; " ..
    "did you mean 'fast'?", prefix, q, k, v, {impl = "fats"})
end)

-- What a script says on stderr.
local function said_by(script)
  local path, err = os.tmpname(), os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(script)
  file:close()
  local quote = function(s) return "'" .. s:gsub("'", "'\\''") .. "'" end
  local ok = os.execute(quote(os.getenv("TARN")) .. " --no-init " .. quote(path) .. " 2> " ..
    quote(err))
  local text = assert(io.open(err)):read("a")
  os.remove(path)
  os.remove(err)
  return text, ok
end

test("a kernel that makes way for another is announced once, with both names and the limit",
  function()
    local text, ok = said_by [[
      local q = randn(20, 100, {device = "emu"})
      for _ = 1, 3 do prefix(q, q, q) end
      prefix(q, q, q, {impl = "k3"})
      prefix(q, q, q, {precision = "tf32"})
      prefix(q, q, q, {impl = "k2"})
      local t, st = randn(5, {device = "emu"}), rnn {D = 5, M = 5, device = "emu"}
      for _ = 1, 3 do st:step(t, t, t) end
      prefix(q, q, q, {chunk = 32})
      prefix(q, q, q, {chunk = 16})
    ]]
    is({ok, text}, {true,
      "note: prefix: kernel k4 is for C up to 64 and maps that work entry by entry; with N = 20 " ..
      "and C = 100 k2 runs in its place\n" ..
      "note: prefix: kernel k3 is for C up to 64; with N = 20 and C = 100 k2 runs in its " ..
      "place\n" ..
      "note: prefix: kernel tf32 is for C up to 64; with N = 20 and C = 100 tf32k2 runs in " ..
      "its place\n" ..
      "note: prefix: chunk is 32, which is for the cpu; kernels have chunks of their own\n"})
    text, ok = said_by [[
      local t = randn(5, {device = "emu"})
      local st = rnn {D = 5, M = 5, device = "emu", impl = "k3"}
      for _ = 1, 3 do st:step(t, t, t) end
      local q = randn(20, 300, {device = "emu", dtype = "float64"})
      rnn_grad(q, q, q, q)
    ]]
    is({ok, text}, {true, "note: rnn:step: kernel k3 is for 8 tokens or more and C up to 256; " ..
      "with N = 1 and C = 5 k2 runs in its place\n" ..
      "note: rnn_grad: kernel k2 is for C and M up to 127; with N = 20 and C = 300 k1 runs in " ..
      "its place\n"})
  end)

test("k4 of prefix makes the features itself, with the bits of k3 and without kernels of phi",
  function()
    for _, dtype in ipairs {"float32", "float64"} do
      local x = randn(2, 300, 32, {device = "emu", seed = 1, dtype = dtype})
      local y = randn(2, 300, 70, {device = "emu", seed = 2, dtype = dtype})
      for _, size in ipairs {1e-3, 1, 10} do
        for _, phi in ipairs {"elu1", "relu", "relu2", "exp_features", "softplus", "identity"} do
          for _, precision in ipairs {"accurate", "fast"} do
            local q = phi == "identity" and (x * size):abs() or x * size
            local opt = {phi = phi, precision = precision, impl = "k4"}
            local fused = prefix(q, q, y, opt):to("cpu")
            opt.impl = "k3"
            is(maxdiff(fused, prefix(q, q, y, opt):to("cpu")), 0, phi)
          end
        end
      end
    end
    local seen = {}
    local p = profile(function() return prefix(q, k, v) end)
    for _, row in ipairs(p.rows) do seen[row.kernel] = true end
    is({seen.prefix_k4, seen.chunk_sums, seen["phi features"], seen["phi pivots"]}, {true, true})
  end)

test("k4 leaves a map of the user's and poly2 to k3, and says so if it was asked for", function()
  local text, ok = said_by [[
    local q = randn(20, 4, {device = "emu"})
    for _, phi in ipairs {"poly2", function(t) return t:exp() end} do
      local fall = prefix(q, q, q, {phi = phi})
      prefix(q, q, q, {phi = phi, impl = "k4"})
    end
  ]]
  is({ok, text}, {true, "note: prefix: kernel k4 is for C up to 64 and maps that work entry by " ..
    "entry; with N = 20 and C = 10 k3 runs in its place\n"})
end)

test("the rows of equiv name the kernel that ran, and so does what is announced", function()
  local wide = randn(20, 100, {device = "emu", seed = 1})
  local report = equiv(wide, wide, wide, {impls = {"k3"}, dtypes = {"float32"}})
  is(report.ok, true)
  for _, row in ipairs(report.rows) do
    is({row.form, row.impl}, {row.form, row.form == "rnn" and "k3" or "k2"})
  end
end)

test("a GPU without tensor cores does not play them", function()
  emu {gpu = "sm_75"}
  for _, kind in ipairs {"tf32", "bf16"} do
    for _, opt in ipairs {{precision = kind}, {impl = kind}} do
      raises("sim: kernel " .. kind .. " needs the tensor cores of sm_80 or newer, and emu is " ..
        'sm_75; expected precision "accurate" or "fast"', sim, q, k, v, opt)
    end
  end
  emu {gpu = "sm_80"}
end)

test("tensor cores are coarser, on a device alone, and in float32", function()
  local exact, wide = sim(q_host, k_host, v_host), q:to("float64")
  for kind, unit in pairs {tf32 = 2^-11, bf16 = 2^-8} do
    local opt = {precision = kind}
    local far = maxdiff(sim(q, k, v, opt):to("cpu"), exact)
    assert(far > unit / 256 and far < 8 * unit, kind .. " is off by " .. far)
    is(sim(q, k, v, opt):totable(), sim(q, k, v, {impl = kind}):totable())
    raises("sim: precision is \"" .. kind .. "\", which devices with tensor cores have; on the " ..
      'cpu it is "accurate" or "fast"', sim, q_host, k_host, v_host, opt)
    raises("sim: precision is \"" .. kind .. "\", for which emu has no kernel of this form in " ..
      'float64; expected "accurate" or "fast"', sim, wide, wide, wide, opt)
    raises('sim: impl is "k1" and precision "' .. kind .. '", which is another kernel; expected ' ..
      "one of them", sim, q, k, v, {precision = kind, impl = "k1"})
  end
end)

test("tf32 rounds a tie away from 0, bf16 to even, and either lets Inf and NaN be", function()
  local one = ones(1, 1, {device = "emu"})
  local function rounded(kind, row)
    local key = tensor({row}, {device = "emu"})
    local _, st = prefix(key, key, one, {phi = "identity", precision = kind, final = true})
    return st.S:totable()
  end
  is(rounded("tf32", {1 + 2^-11, 1 + 3 * 2^-11, -1 - 2^-12}), {{1 + 2^-10}, {1 + 2^-9}, {-1}})
  is(rounded("bf16", {1 + 2^-8, 1 + 3 * 2^-8, -1 - 2^-9}), {{1}, {1 + 2^-6}, {-1}})
  for _, kind in ipairs {"tf32", "bf16"} do
    local S = rounded(kind, {math.huge, 0 / 0, 1})
    is({S[1][1], S[2][1] ~= S[2][1], S[3][1]}, {math.huge, true, 1})
  end
end)

test("a state lies on a device, and so must what it is stepped with", function()
  local st, host = rnn {D = 5, M = 3, H = 2, device = "emu"}, rnn {D = 5, M = 3, H = 2}
  is({st.device, host.device, kv {D = 1, M = 1}.device}, {"emu", "cpu", "cpu"})
  is(tostring(st), "rnn state: H=2 D=5 M=3 C=5 phi=elu1 float32 emu, 0 tokens, 320 bytes")
  close(st:run(q, k, v), host:run(q_host, k_host, v_host))
  local token = {{}, 1}
  close(st:step(q[token], k[token], v[token]),
    host:step(q_host[token], k_host[token], v_host[token]))
  close(st.S, host.S, 1e-5)
  close(st.z, host.z, 1e-5)
  is(st.t, 21)
  raises('rnn:step: q is on cpu and the state on emu, expected both on one device; ' ..
    'q:to("emu") moves q', st.step, st, q_host[token], k_host[token], v_host[token])
end)

test("a state of a device is copied, reset, saved and loaded", function()
  local st = rnn {D = 5, M = 3, H = 2, device = "emu"}
  st:run(q, k, v)
  local copy, S = st:clone(), st.S:totable()
  st:reset()
  is({st.t, copy.t, copy.device}, {0, 20, "emu"})
  is(copy.S:totable(), S)
  is(st.z:to("cpu"):max(), 0)
  local path = os.tmpname()
  copy:save(path)
  local host, there = rnn.load(path), rnn.load(path, {device = "emu"})
  os.remove(path)
  is({host.device, there.device, host.t}, {"cpu", "emu", 20})
  is(host.S:totable(), S)
  is(there.S:totable(), S)
end)

test("prefix gives the final state where its tensors are, and goes on from one there", function()
  local _, st = prefix(q, k, v, {final = true})
  is({st.device, st.t}, {"emu", 20})
  local out, final = prefix(q, k, v, {state = st, final = true})
  is(final.t, 40)
  local _, host = prefix(q_host, k_host, v_host, {final = true})
  close(out, prefix(q_host, k_host, v_host, {state = host}))
  close(prefix(q, k, v, {state = {S = st.S, z = st.z}}), out:to("cpu"))
  raises("prefix: state is on cpu and q on emu, expected both on one device; t:to(device) " ..
    "moves a tensor", prefix, q, k, v, {state = host})
  raises("prefix: state.S is on cpu, expected it on emu; t:to(device) moves a tensor", prefix,
    q, k, v, {state = {S = host.S, z = host.z}})
end)

-- ---- the emulated device's settings -------------------------------------------------------

test("equiv compares devices and the kernels that are named, where a form has them", function()
  local report = equiv(q_host, k_host, v_host, {devices = {"cpu", "emu"}, grad = true})
  local seen = {}
  for _, row in ipairs(report.rows) do seen[row.device .. " " .. row.what] = true end
  is(report.ok, true)
  for _, key in ipairs {"cpu out", "emu out", "emu dq", "emu dk", "emu dv"} do is(seen[key], true) end
  report = equiv(q, k, v, {impls = {"k3"}, dtypes = {"float32"}})
  is(report.ok, true)
  for _, row in ipairs(report.rows) do
    is({row.device, row.impl}, {"emu", row.form == "rnn step" and "k2" or "k3"})
    assert(row.form ~= "sim", "sim has no k3")
  end
  raises('equiv: impl is "k9", which is on none of the devices', equiv, q, k, v, {impls = {"k9"}})
  raises('equiv: impl is "k1", which is on none of the devices', equiv, q_host, k_host, v_host,
    {impls = {"k1"}})
end)

test("emu{..} sets what it is given, and tells", function()
  local before = emu()
  local s = emu {gpu = "sm_75", order = "random", seed = 7, check = true}
  is({s.gpu, s.order, s.seed, s.check}, {"sm_75", "random", 7, true})
  is(tostring(emu()), 'emu: gpu="sm_75", check=true, order="random", seed=7')
  is(emu {check = false}.gpu, "sm_75")
  emu(before)
  is({emu().gpu, emu().order}, {before.gpu, before.order})
end)

test("a wrong setting is refused, and changes nothing", function()
  raises("emu: order is 'revesed', expected one of forward, reversed, random; did you mean " ..
    "'reversed'?", emu, {order = "revesed", gpu = "sm_90"})
  is(emu().gpu, "sm_80")
  local ok, why = pcall(emu, {gpu = "sm_70"})
  assert(not ok and why:find("^emu: gpu is 'sm_70', expected one of sm_75, sm_80, "), why)
  raises("emu: unknown option 'chek'; did you mean 'check'?", emu, {chek = true})
  raises("emu: seed is -1, expected 0 to 4294967295", emu, {seed = -1})
end)

test("kernels give the same bits in every order, and nothing to report when checked", function()
  local out = prefix(q, k, v):totable()
  for _, order in ipairs {"forward", "reversed", "random"} do
    emu {order = order, check = true}
    is(prefix(q, k, v):totable(), out)
    is((q * 2):exp().device, "emu")
  end
  emu {order = "forward", check = false}
end)

test("a GPU with little shared memory runs the kernels as well", function()
  emu {gpu = "sm_75"}
  close(prefix(q, k, v), prefix(q_host, k_host, v_host))
  emu {gpu = "sm_80"}
end)

tap.done()
