-- A feature map or a similarity of the user's own: where it may stand, what becomes of its
-- errors, how long it lives.

local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local test, is, raises = tap.test, tap.is, tap.raises

local function wide(x) return tensor(x, {dtype = "float64"}) end

local function inputs(N, D, M)
  local function draw(columns, seed)
    return randn(N, columns, {seed = seed, dtype = "float64"})
  end
  return draw(D, 1), draw(D, 2), draw(M, 3)
end
local q, k, v = inputs(9, 4, 3)

--> region one_answer
local function double_exp(x) -- C = 2 D
  return cat({x:exp(), (x * 2):exp()}, 2)
end
local function close(a, b) assert(maxdiff(a, b) < 1e-13, maxdiff(a, b)) end

test("one function gives one answer in every form, also with C ~= D", function()
  local causal = sim(q, k, v, {by = {apply = double_exp}, causal = true})
  for _, method in ipairs {"sequential", "chunked", "scan"} do
    local opt = {phi = double_exp, method = method, chunk = 4}
    close(prefix(q, k, v, opt), causal)
  end
  local st = rnn {D = 4, M = 3, phi = double_exp, dtype = "float64"}
  close(st:run(q, k, v), causal)
  is(st.S.shape, {8, 3})
  local all = sim(q, k, v, {by = {apply = double_exp}})
  close(assoc(q, k, v, {phi = double_exp}), all)
end)
--< region one_answer

local function exp_grad(x, d) return x:exp() * d end
local exp_map = {apply = function(x) return x:exp() end, grad = exp_grad}

test("a function gives what the same map gives that is built in", function()
  close(assoc(q, k, v, {phi = exp_map}), assoc(q, k, v, {phi = "exp_features"}))
end)

test("phi.name stands for the name", function()
  is(assoc(q, k, v, {phi = phi.relu2}), assoc(q, k, v, {phi = "relu2"}):totable())
  is(sim(q, k, v, {by = phi.relu2}), sim(q, k, v, {by = "relu2"}):totable())
end)

test("a bare function as by is a similarity of one query and one key", function()
  local function dot(q_i, k_j) return math.exp((q_i * k_j):sum() / 2) end
  close(sim(q, k, v, {by = dot, eps = 0}), sim(q, k, v, {by = "softmax"}))
  close(sim(q, k, v, {by = function(a, b) return (a - b):norm() end}),
    sim(q, k, v, {by = function(a, b) return wide((a - b):norm()) end}))
end)

test("NUM-08 for own features: they may be huge", function()
  local big = full({4, 8}, 1e19)
  local out = prefix(big, big, tensor {{1}, {2}, {3}, {4}}, {phi = function(x) return x end})
  assert(maxdiff(out, tensor {{1}, {1.5}, {2}, {2.5}}) < 1e-6)
end)

test("gradients of {apply=, grad=} are those of the same map built in", function()
  local dout = randn(9, 3, {seed = 4, dtype = "float64"})
  for _, f in ipairs {assoc_grad, prefix_grad, rnn_grad} do
    local own = {f(q, k, v, dout, {phi = exp_map})}
    local built_in = {f(q, k, v, dout, {phi = "exp_features"})}
    is(#own, 3)
    for i = 1, 3 do close(own[i], built_in[i]) end
  end
  close(sim_grad(q, k, v, dout, {by = exp_map}),
    sim_grad(q, k, v, dout, {by = "exp_features"}))
end)

test("a bare function has no gradient, and the message says how it can have one", function()
  raises("assoc_grad: the feature map is a function without its derivative; hint: give " ..
    "{apply=function(t) .. end, grad=function(t, dfeatures) .. end}",
    assoc_grad, q, k, v, v, {phi = double_exp})
  raises("sim_grad: by is a function of q_i and k_j, whose derivative nobody knows; hint: " ..
    "as a feature map it can have one: {apply=, grad=}",
    sim_grad, q, k, v, v, {by = double_exp})
end)

test("an error comes out as the very object that was raised", function()
  local object = {why = "because"}
  local ok, why = pcall(assoc, q, k, v, {phi = function() error(object) end})
  is({ok, rawequal(why, object)}, {false, true})
  ok, why = pcall(sim, q, k, v, {by = function() error() end})
  is({ok, why}, {false, nil})
  raises("mine", prefix, q, k, v, {phi = function() error("mine", 0) end})
  raises(("long "):rep(1000), assoc, q, k, v,
    {phi = function() error(("long "):rep(1000), 0) end})
end)

test("after an error a state is as it was", function()
  local fail = false
  local st = rnn {D = 4, M = 3, dtype = "float64", phi = function(x)
    if fail then error("now", 0) end
    return x:exp()
  end}
  st:run(q, k, v)
  local S, t = st.S, st.t
  fail = true
  raises("now", st.run, st, q, k, v)
  raises("now", st.step, st, q[1], k[1], v[1])
  is({maxdiff(st.S, S), st.t}, {0, t})
end)

test("a result that is not [rows, C] is refused", function()
  raises("phi: the function returned nil, expected a tensor [9, C]: one row of features " ..
    "for each of its rows", prefix, q, k, v, {phi = function(x) x:exp() end})
  raises("phi: the function returned tensor [1, 4] float64, expected a tensor [9, C]: one " ..
    "row of features for each of its rows",
    prefix, q, k, v, {phi = function(x) return x[{{1, 1}}] end})
  raises('phi: the function returned float32 for float64 rows; hint: give t:to("float64") ' ..
    "back", prefix, q, k, v, {phi = function(x) return x:to("float32") end})
  raises("phi: grad returned tensor [9, 8] float64, expected a tensor [9, 4], as its " ..
    "argument", prefix_grad, q, k, v, v,
    {phi = {apply = double_exp, grad = function(_, d) return d end}})
  raises("sim: by returned a string, expected a number: the similarity of q_i and k_j",
    sim, q, k, v, {by = function() return "near" end})
end)

test("q, k and v stay as they are whatever the function does to its argument", function()
  local before = {q:clone(), k:clone()}
  prefix(q, k, v, {phi = function(x) return x:fill(1) end})
  sim(q, k, v, {by = function(q_i, k_j)
    q_i:fill(1)
    k_j:fill(1)
    return 1
  end})
  is({maxdiff(q, before[1]), maxdiff(k, before[2])}, {0, 0})
end)

test("features may be views, and may be kept", function()
  local kept
  local out = assoc(q, k, v, {phi = function(x)
    kept = kept or x:exp():t()
    return x:exp():t():contiguous():t()
  end})
  close(out, assoc(q, k, v, {phi = "exp_features"}))
  is(kept.shape, {4, 9})
end)

test("forms may be called inside a function that a form calls", function()
  local out = assoc(q, k, v, {phi = function(x)
    pcall(assoc, x, x, x, {phi = function() error("inner") end})
    return prefix(x, x, x, {phi = phi.elu1}):exp()
  end})
  is(out.shape, {9, 3})
end)

test("it runs in the coroutine that called, and can't yield out of a form", function()
  local seen
  local co = coroutine.create(function()
    return assoc(q, k, v, {phi = function(x) seen = coroutine.running() return x:exp() end})
  end)
  local ok, out = coroutine.resume(co)
  is({ok, seen == co}, {true, true})
  close(out, assoc(q, k, v, {phi = "exp_features"}))
  local yields = coroutine.wrap(function()
    return pcall(assoc, q, k, v, {phi = function(x) coroutine.yield() return x end})
  end)
  local caught, why = yields()
  is({caught, why}, {false, "attempt to yield across a C-call boundary"})
end)

test("a state made in a coroutine goes on when the coroutine is gone", function()
  local st = coroutine.wrap(function()
    return rnn {D = 4, M = 3, dtype = "float64", phi = function(x) return x:exp() end}
  end)()
  collectgarbage()
  collectgarbage()
  close(st:run(q, k, v), prefix(q, k, v, {phi = "exp_features"}))
end)

test("a state keeps its function alive, and both go together", function()
  local alive = setmetatable({}, {__mode = "v"})
  local st, clone
  do
    local map = {apply = function(x) return x:exp() end}
    alive.apply = map.apply
    st = rnn {D = 4, M = 3, dtype = "float64", phi = map}
    clone = st:clone()
  end
  st = nil
  collectgarbage()
  clone:run(q, k, v)
  local _, final = prefix(q, k, v, {state = clone, final = true})
  clone = nil
  collectgarbage()
  final:run(q, k, v)
  is(type(alive.apply), "function")
  final = nil
  collectgarbage()
  collectgarbage()
  is(alive.apply, nil)
end)

test("a function that refers to its own state does not keep it for ever", function()
  local alive = setmetatable({}, {__mode = "v"})
  do
    local st
    st = rnn {D = 4, M = 3, phi = function(x) return x, st end}
    alive.st = st
  end
  collectgarbage()
  collectgarbage()
  is(alive.st, nil)
end)

test("a state in use can't be changed or closed by the function", function()
  local st, why
  st = rnn {D = 4, M = 3, dtype = "float64", phi = function(x)
    if st then
      local _
      _, why = pcall(st.step, st, x[1], x[1], x[1])
      getmetatable(st).__close(st)
    end
    return x:exp()
  end}
  close(st:run(q, k, v), prefix(q, k, v, {phi = "exp_features"}))
  is(why, "step: the state is in use by a call that has not come back; hint: st:clone() is " ..
    "free to change")
  is(st.t, 9)
end)

test("a tensor in use can be closed by the function", function()
  local q2 = q:clone()
  local out = assoc(q2, k, v, {phi = function(x)
    local closed <close> = q2
    return x:exp()
  end})
  close(out, assoc(q, k, v, {phi = "exp_features"}))
end)

test("the same function given again is the same map", function()
  local f = function(x) return x:exp() end
  local st = rnn {D = 4, M = 3, dtype = "float64", phi = f}
  st:run(q, k, v)
  is(prefix(q, k, v, {phi = f, state = st}).shape, {9, 3})
  is(pcall(prefix, q, k, v, {phi = "relu", state = st}), false)
end)

test("what is neither name, function nor table is refused", function()
  raises("assoc: the feature map is the number 3, expected a name, a function or {apply=, " ..
    "grad=}", assoc, q, k, v, {phi = 3})
  raises("assoc: apply of the feature map is nil, expected a function", assoc, q, k, v,
    {phi = {grad = exp_grad}})
  raises("assoc: unknown option 'aply'; did you mean 'apply'?", assoc, q, k, v,
    {phi = {aply = exp_grad}})
end)

tap.done()
