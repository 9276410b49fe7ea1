-- sim, assoc, prefix and their gradients: what they compute. Cases named NUM-, SHP-, GST-
-- and REF- are failures that other implementations had.

local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local test, is, raises = tap.test, tap.is, tap.raises

local function wide(x) return tensor(x, {dtype = "float64"}) end
local function near(got, expected, bound)
  local off = maxdiff(got, expected)
  if not (off <= bound) then error("off by " .. off .. ", allowed " .. bound, 2) end
end

-- Features that are all 1, so that attention is a plain mean.
local ones_features = {
  apply = function(x) return x * 0 + 1 end,
  grad = function(x, d) return x * 0 end,
}
local function column(list) return wide(list):reshape(#list, 1) end

local q = wide {{0, 1}, {-1, 0.5}, {2, -2}}
local k = wide {{1, 0}, {0, -1}, {-0.5, 2}}
local v = wide {{1, 2}, {3, -1}, {0, 4}}
local causal = wide {{1, 2}, {1.582925682, 1.125611477}, {1.339503226, 1.588267395}}
local unmasked = wide {{.745994219, 2.648646643}, {.633978438, 2.848777067},
  {1.339503226, 1.588267395}}

test("REF-A: every form gives the table computed by hand", function()
  near(sim(q, k, v, {by = "elu1", eps = 0}), unmasked, 1e-9)
  near(assoc(q, k, v, {eps = 0}), unmasked, 1e-9)
  near(sim(q, k, v, {by = "elu1", causal = true, eps = 0}), causal, 1e-9)
  for _, method in ipairs {"sequential", "chunked", "scan"} do
    for _, chunk in ipairs {1, 2, 3, 64} do
      near(prefix(q, k, v, {method = method, chunk = chunk, eps = 0}), causal, 1e-9)
    end
  end
  near(rnn {D = 2, M = 2, eps = 0, dtype = "float64"}:run(q, k, v), causal, 1e-9)
end)

test("weights are what the values are averaged with", function()
  local out, weights = sim(q, k, v, {by = "rbf", weights = true})
  near(weights:mm(v), out, 1e-15)
  out, weights = sim(q, k, v, {weights = true, causal = true})
  near(weights:sum(2), ones(3), 1e-15)
  is(weights[{1, 3}], 0)
  is(select("#", sim(q, k, v)), 1)
  is(select("#", sim(q, k, v, {weights = false})), 1)
end)

--> region order_blind
test("keys may come in any order, outputs are in the queries'", function()
  local function shuffle(t) return index(t, 1, {3, 1, 2}) end
  local function linear(a, b) return 1 + a[1] * b[1] end
  for _, by in ipairs {"softmax", "rbf", "elu1", linear} do
    local out = sim(q, k, v, {by = by})
    near(sim(q, shuffle(k), shuffle(v), {by = by}), out, 1e-14)
    near(sim(shuffle(q), k, v, {by = by}), shuffle(out), 1e-14)
  end
end)
--< region order_blind

test("scale belongs to the similarity", function()
  near(sim(q, k, v, {scale = 0}), sim(q * 0, k, v), 1e-15)
  near(sim(q, k, v), sim(q, k, v, {scale = 1 / math.sqrt(2)}), 1e-15)
end)

test("NUM-02: gradients stay right where a denominator is nearly 0", function()
  local zero, far, one = wide {{0}}, wide {{-20}}, wide {{1}}
  -- The case gives six digits.
  local cases = {{0, 1, 0}, {1e-10, 0.953728, 0.0441305}, {1e-6, 2.05691e-3, 2.05268e-3}}
  for _, case in ipairs(cases) do
    local opt = {eps = case[1]}
    near(prefix(zero, far, one, opt), wide {{case[2]}}, 3e-6 * case[2])
    for _, grad in ipairs {assoc_grad, prefix_grad, rnn_grad} do
      local _, dk = grad(zero, far, one, one, opt)
      near(dk, wide {{case[3]}}, 3e-6 * case[3] + 1e-15)
    end
  end
  for _, x in ipairs {-700, -87, -30, -3, 0, 5} do
    for _, eps in ipairs {0, 1e-10, 1e-6, 1} do
      local _, dk = prefix_grad(zero, wide {{x}}, one, one, {eps = eps})
      assert(math.abs(dk:item()) <= 0.25, x .. " " .. eps)
    end
  end
end)

test("NUM-05: sums go on growing beyond the range of small types", function()
  local N = 70000
  local x, y = zeros(N, 1), ones(N, 1)
  local out, st = prefix(x, x, y, {phi = ones_features, final = true})
  is(st.z:item(), N)
  near(out, ones(N, 1), 1e-6)
end)

test("the naive loops of src/stages compute the same, with one plain sum each", function()
  local q, k, v = randn(2, 70, 4, {seed = 1}), randn(2, 70, 4, {seed = 2}), randn(2, 70, 3, {seed = 3})
  local naive = {impl = "plain", precision = "fast"}
  local function with(opt)
    for name, value in pairs(naive) do opt[name] = value end
    return opt
  end
  for _, opt in ipairs {{by = "softmax"}, {by = "rbf", causal = true}, {by = "elu1"}} do
    local expected = sim(q, k, v, opt)
    near(sim(q, k, v, with(opt)), expected, 1e-5)
  end
  near(assoc(q, k, v, with {}), assoc(q, k, v), 1e-5)
  for _, method in ipairs {"sequential", "chunked", "scan"} do
    near(prefix(q, k, v, with {method = method}), prefix(q, k, v), 1e-5)
  end
  local st = select(2, prefix(q, k, v, {final = true}))
  near(prefix(q, k, v, with {state = st}), prefix(q, k, v, {state = st}), 1e-5)
  near(prefix_grad(q, k, v, v, naive), prefix_grad(q, k, v, v), 1e-5)
end)

test("NUM-08: finite q, k and v whose sums overflow are refused, never a silent NaN", function()
  local huge, v = full({4, 8}, 1e19), tensor {{1}, {2}, {3}, {4}}
  local message = ": q, k, v are finite, but their sums are beyond float32; " ..
    "hint: scale them down or use float64"
  raises("sim" .. message, sim, huge, huge, v, {impl = "plain"})
  near(sim(huge, huge, v), full({4, 1}, 2.5), 1e-6)
  for _, map in ipairs {"poly2", "relu2", "exp_features"} do
    raises("prefix" .. message, prefix, huge, huge, v, {phi = map})
    raises("assoc" .. message, assoc, huge, huge, v, {phi = map})
    raises("prefix_grad" .. message, prefix_grad, huge, huge, v, v, {phi = map})
  end
  local wide = huge:to("float64")
  near(prefix(wide, wide, v, {phi = "poly2"}), tensor {{1}, {1.5}, {2}, {2.5}}, 1e-6)
  local st = rnn {D = 8, M = 1}
  assert(not pcall(st.step, st, ones(8), ones(8), full({1}, 3e38)) or
    not pcall(st.step, st, ones(8), ones(8), full({1}, 3e38)))
  for _, x in ipairs(prefix(huge, huge, full({4, 1}, 1 / 0)):reshape(4):totable()) do
    assert(x ~= x or x == 1 / 0, "Inf in the input is data")
  end
end)

test("a row that no key reaches has no gradient, whatever v holds", function()
  local z, v = zeros(2, 3), full({2, 1}, 0 / 0)
  for _, grad in ipairs {assoc_grad, prefix_grad, rnn_grad} do
    is(grad(z, z, v, ones(2, 1), {phi = "relu", eps = 0}):totable(), z:totable())
  end
  is(sim_grad(z, z, v, ones(2, 1), {by = "relu", eps = 0}):totable(), z:totable())
end)

test("NUM-08: q and k of 1e19 give the right answer in float32", function()
  local big, values = full({4, 8}, 1e19), tensor {{1}, {2}, {3}, {4}}
  for _, method in ipairs {"sequential", "chunked", "scan"} do
    near(prefix(big, big, values, {method = method}), tensor {{1}, {1.5}, {2}, {2.5}}, 1e-6)
  end
  near(rnn {D = 8, M = 1}:run(big, big, values), tensor {{1}, {1.5}, {2}, {2.5}}, 1e-6)
end)

test("NUM-10: the slope of elu1 at 0 is 1", function()
  local dout = column {0, 1}
  for _, zero in ipairs {0, -0.0, 1e-45, -1e-45} do
    local x = column {zero, zero}
    for _, grad in ipairs {assoc_grad, prefix_grad, rnn_grad} do
      local _, dk = grad(x, x, column {0, 1}, dout, {eps = 0})
      near(dk, column {-0.25, 0.25}, 1e-15)
    end
  end
end)

test("SHP-02: queries and keys may differ in number where nothing is causal", function()
  local values = column {1, 2, 6}
  local opt = {phi = ones_features, eps = 0}
  is(assoc(zeros(5, 1), zeros(3, 1), values, opt), {{3}, {3}, {3}, {3}, {3}})
  is(sim(zeros(5, 1), zeros(3, 1), values, {by = ones_features, eps = 0}):mean(), 3)
  is(assoc(zeros(1, 2), zeros(1000, 2), ones(1000, 3)).shape, {1, 3})
  is(assoc(zeros(1000, 2), zeros(1, 2), ones(1, 3)).shape, {1000, 3})
  raises("sim: k is [3, 1], expected [N, D] = [5, 1] to match q, as attention is causal",
    sim, zeros(5, 1), zeros(3, 1), zeros(3, 1), {causal = true})
end)

test("SHP-08: no token and one token", function()
  local st = rnn {D = 2, M = 3}
  for _, f in ipairs {sim, assoc, prefix} do
    is(f(zeros(0, 2), zeros(0, 2), zeros(0, 3)).shape, {0, 3})
    is(f(zeros(0, 4, 5, 2), zeros(0, 4, 5, 2), zeros(0, 4, 5, 3)).shape, {0, 4, 5, 3})
  end
  is(st:run(zeros(0, 2), zeros(0, 2), zeros(0, 3)).shape, {0, 3})
  is({st.t, st.S:norm(), st.z:norm()}, {0, 0, 0})

  local q1, k1, v1 = randn(1, 2, {seed = 1}), randn(1, 2, {seed = 2}), randn(1, 3, {seed = 3})
  for _, f in ipairs {assoc, prefix} do near(f(q1, k1, v1), v1, 1e-5) end
  for _, f in ipairs {assoc_grad, prefix_grad, rnn_grad} do
    local dq, dk, dv = f(q1, k1, v1, ones(1, 3))
    assert(dq:norm() <= 1e-5 and dk:norm() <= 1e-5)
    near(dv, ones(1, 3), 1e-5)
  end
end)

test("SHP-11: keys beyond lengths do not exist", function()
  local zero, values = zeros(5, 1), tensor {{1}, {2}, {3}, {100}, {100}}
  local opt = {phi = ones_features, lengths = {3}, eps = 0}
  is(assoc(zero, zero, values, opt), {{2}, {2}, {2}, {2}, {2}})
  local _, dk, dv = assoc_grad(zero, zero, values, ones(5, 1), opt)
  near(dv, tensor {{5 / 3}, {5 / 3}, {5 / 3}, {0}, {0}}, 1e-6)
  is({dk[{4, 1}], dk[{5, 1}]}, {0, 0})
  near(sim(q, k, v, {lengths = {2}}), sim(q, k[{{1, 2}}], v[{{1, 2}}]), 1e-15)
  near(sim(q, k, v, {lengths = tensor {2}}), sim(q, k, v, {lengths = {2.0}}), 0)
  is(assoc(q, k, v, {lengths = {0}}), {{0, 0}, {0, 0}, {0, 0}})
end)

test("GST-03: z goes with S", function()
  local zero = zeros(3, 1)
  local _, st = prefix(zero, zero, tensor {{1}, {2}, {3}}, {phi = ones_features, final = true,
    eps = 0})
  is(st:step(zeros(1), zeros(1), tensor {4}), {2.5})
  local opt = {phi = ones_features, eps = 0, state = {S = tensor {{6}}, z = tensor {3}}}
  is(prefix(zeros(1, 1), zeros(1, 1), tensor {{4}}, opt), {{2.5}})
  raises("prefix: state.z is nil, expected a tensor: S and z are sums over the same tokens, " ..
    "one is of no use without the other (eqs 10, 11)",
    prefix, zero, zero, zero, {state = {S = zeros(1, 1)}})
  raises("prefix: state.S is nil, expected a tensor: S and z are sums over the same tokens, " ..
    "one is of no use without the other (eqs 10, 11)",
    prefix, zero, zero, zero, {state = {z = zeros(1)}})
end)

test("GST-06: no state, and a state of zeros, give the same bits", function()
  local dout = randn(3, 2, {seed = 1, dtype = "float64"})
  local function zero()
    return {S = zeros(2, 2, {dtype = "float64"}), z = zeros(2, {dtype = "float64"})}
  end
  is(prefix(q, k, v), prefix(q, k, v, {state = zero()}):totable())
  for _, grad in ipairs {prefix_grad, rnn_grad} do
    local without, with = {grad(q, k, v, dout)}, {grad(q, k, v, dout, {state = zero()})}
    is({#without, #with}, {3, 4})
    for i = 1, 3 do is(without[i], with[i]:totable()) end
    is(with[4].S.shape, {2, 2})
    is(with[4].z.shape, {2})
    assert(with[4].S:norm() > 0)
  end
end)

test("a gradient may arrive at the final state too", function()
  local dstate = {S = ones(2, 2, {dtype = "float64"}), z = ones(2, {dtype = "float64"})}
  for _, grad in ipairs {prefix_grad, rnn_grad} do
    local dq, dk, dv = grad(q, k, v, zeros(3, 2, {dtype = "float64"}), {dstate = dstate})
    is(dq:norm(), 0)
    near(dv, phi.elu1(k):sum(2):reshape(3, 1):expand(3, 2), 1e-14)
    assert(dk:norm() > 0)
  end
  raises("prefix_grad: dstate is a value of type rnn state, expected {S=, z=}", prefix_grad,
    q, k, v, v, {dstate = rnn {D = 2, M = 2, dtype = "float64"}})
end)

test("GST-11: every form returns the same number of results at every length", function()
  for _, N in ipairs {0, 1, 3, 130} do
    local a, b, c = zeros(N, 2), zeros(N, 2), zeros(N, 3)
    is(select("#", sim(a, b, c)), 1)
    is(select("#", assoc(a, b, c)), 1)
    for _, method in ipairs {"sequential", "chunked", "scan"} do
      is(select("#", prefix(a, b, c, {method = method})), 1)
      is(select("#", prefix(a, b, c, {method = method, final = true})), 2)
    end
    for _, grad in ipairs {sim_grad, assoc_grad, prefix_grad, rnn_grad} do
      is(select("#", grad(a, b, c, c)), 3)
    end
  end
end)

test("a cell brings its feature map and its eps along", function()
  local st = rnn {D = 2, M = 2, phi = "relu", eps = 0.5, dtype = "float64"}
  st:run(q, k, v)
  local expected = st:clone():run(q, k, v)
  near(prefix(q, k, v, {state = st}), expected, 1e-15)
  is(st.t, 3)
  raises("prefix: state was made with phi relu, expected elu1 as in this call", prefix, q, k,
    v, {state = st, phi = "elu1"})
end)

test("no form changes its arguments", function()
  local before = {q:totable(), k:totable(), v:totable()}
  local st = rnn {D = 2, M = 2, dtype = "float64"}
  sim(q, k, v)
  assoc(q, k, v)
  prefix(q, k, v, {state = st})
  prefix_grad(q, k, v, v, {state = st})
  is({q:totable(), k:totable(), v:totable()}, before)
  is({st.t, st.S:norm()}, {0, 0})
end)

tap.done()
