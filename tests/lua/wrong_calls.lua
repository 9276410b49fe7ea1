-- wrong_calls.lua: what somebody types, and what he is told. Grouped by what he had in
-- mind; each line is a call as text and the whole message that it raises. A message names
-- the function and the argument, says what it is, and what was expected.

local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")

local names = setmetatable({
  q = zeros(16, 64), k = zeros(16, 64), v = zeros(16, 32), -- one head, N = 16
  k8 = zeros(8, 64), v8 = zeros(8, 32),                    -- the same with N = 8
  t = range(1, 6):reshape(2, 3),
  st = rnn {D = 2, M = 3},
  sum2 = function(x) return x:sum() end,
}, {__index = _ENV})

local function wrong(intention, calls)
  tap.test(intention, function()
    for _, call in ipairs(calls) do
      local code, message = call[1], call[2]
      local chunk = load("return " .. code, "=call", "t", names) or
        assert(load(code, "=call", "t", names))
      local ok, why = pcall(chunk)
      if ok or why ~= message then
        error(("%s\nraises:   %s\nexpected: %s"):format(code, ok and "nothing" or why,
          message))
      end
    end
  end)
end

wrong("to make a tensor", {
  {"tensor('3')", "tensor: argument 1 is a string, expected a number or nested tables of " ..
    "numbers"},
  {"tensor{{1, 2}, {3}}", "tensor: element [2] has length 1, expected 2 like those before it"},
  {"tensor{1, nil, 3}", "tensor: element [2] is nil, expected a number"},
  {"tensor({1, 2}, {dtype='float'})", "tensor: dtype is 'float', expected one of float32, " ..
    "float64"},
  {"zeros(2, 3, {dtyp='float64'})", "zeros: unknown option 'dtyp'; did you mean 'dtype'?"},
  {"zeros(2, -3)", "zeros: size 2 is -3, expected 0 or more"},
  {"zeros(1, 1, 1, 1, 1, 1, 1, 1, 1)", "zeros: more than 8 sizes, the highest rank of a tensor"},
  {"full({2, 3})", "full: x is missing, expected a number after the shape"},
  {"range(1, 1/0)", "range: b is inf, expected a finite number"},
  {"randn(3, {seed='x'})", "randn: seed is a string, expected an integer"},
})

wrong("to look at one element", {
  {"t[0]", "t[i]: i is 0: indices start at 1 (or at -1 from the end)"},
  {"t[4]", "t[i]: i is 4, out of range for an extent of 2"},
  {"t[{1, 4}]", "t[{..}]: index 2 is 4, out of range for an extent of 3"},
  {"t[{1, 2, 3}]", "t[{..}]: 3 indices for a tensor of rank 2"},
  {"t[{{1, 4}}]", "t[{..}]: range 1 to 4 is out of range for an extent of 2"},
  {"t:item()", "item: tensor [2, 3] float32 has 6 elements, expected exactly 1"},
})

wrong("to write into a tensor", {
  {"t[3] = 1", "t[i]: i is 3, out of range for an extent of 2"},
  {"t[1] = zeros(2)", "copy: shapes [3] and [2] do not broadcast together"},
  {"t[1] = 'x'", "t[i] = x: x is a string, expected a number or a tensor"},
  {"t.shape = {3, 2}", "t.shape: the fields of a tensor can only be read"},
})

wrong("to give a tensor another shape", {
  {"t:reshape(4)", "reshape: shape is [4] with 4 elements, but the tensor is [2, 3] with 6"},
  {"t:reshape(4, -1)", "reshape: size 2 can't be inferred: the 6 elements of tensor [2, 3] " ..
    "float32 do not divide by 4"},
  {"t:transpose(1, 3)", "transpose: dim is 3, expected 1 to 2, or -1 to -2 from the end"},
  {"t:permute(1, 1)", "permute: dim 1 is there twice, expected each once"},
  {"t:expand(2, 6)", "expand: tensor is [2, 3], which does not repeat to [2, 6]"},
  {"t:squeeze(1)", "squeeze: dimension 1 has extent 2, expected 1"},
})

wrong("to calculate", {
  {"t + zeros(2)", "add: shapes [2, 3] and [2] do not broadcast together"},
  {"t + nil", "+: the second operand is nil, expected a tensor or a number"},
  {"t:mm(t)", "mm: operands are [2, 3] and [2, 3], expected [.., n, k] and [.., k, m], or a " ..
    "vector [k]"},
  {"t:sum(3)", "sum: dim is 3, expected 1 to 2, or -1 to -2 from the end"},
  {"t:sum(1, {keep=true})", "sum: unknown option 'keep', expected one of keepdim"},
  {"t:softmax()", "softmax: dim is missing, expected an integer"},
  {"t:clamp(2, 1)", "clamp: lo is 2, more than hi, which is 1"},
  {"zeros(0):max()", "max: there are no elements, expected at least one to choose"},
  {"t:summ()", "tensor has no method 'summ'; did you mean 'sum'?"},
  {"t.sum()", "sum: expected a tensor as argument 1 (use t:sum() with a colon)"},
})

wrong("to compare", {
  {"t == t:clone()", "==: two tensors have no single answer; use allclose or eq"},
  {"t < 3", "<: a tensor has no single answer; use t:lt(u) or t:gt(u)"},
  {"allclose(t, t, {tol=1e-3})", "allclose: unknown option 'tol'; did you mean 'rtol'?"},
  {"maxdiff(t, zeros(2))", "maxdiff: shapes [2, 3] and [2] do not broadcast together"},
})

wrong("to join and to pick", {
  {"cat(t, t, 1)", "cat: argument 1 is tensor [2, 3] float32, expected a list of tensors"},
  {"cat({t, zeros(2, 4)}, 1)", "cat: a tensor is [2, 4], expected [2, 3] like the first; " ..
    "only the extent of the joined dimension may differ"},
  {"index(t, 1, {3})", "index: position 1 is 3, out of range for an extent of 2"},
  {"'loss: ' .. t", "..: a tensor is not a string; use tostring(t) to join it to text, " ..
    "cat({a, b}, dim) to join tensors"},
})

wrong("to read and write files", {
  {"read('no.npy')", "read: no.npy: can't read: No such file or directory"},
  {"read('/')", "read: /: can't read: Is a directory"},
  {"t:save('/no/t.npy')", "save: /no/t.npy: can't write: No such file or directory"},
  {"imwrite(t, 'x.png')", "imwrite: the path is tensor [2, 3] float32, expected a string"},
  {"imwrite('x.jpg', t)", "imwrite: the path is 'x.jpg', expected a name that ends in .png"},
  {"t:to('float')", "to: there is no type 'float'; did you mean 'float32'?"},
  {"t:to('float16')", "to: there is no type 'float16'; did you mean 'float32'?"},
  {"t:to('quantum')", "to: there is no device 'quantum', expected 'cpu', 'emu' or 'cuda'"},
})

wrong("to attend: q, k and v must fit each other", {
  {"assoc(q, k)", "assoc: v is nil, expected a tensor"},
  {"assoc{q, k, v}", "assoc: q is a table, expected a tensor"},
  {"assoc(q[1], k, v)", "assoc: q is [64], expected [N, D], [H, N, D] or [B, H, N, D]"},
  {"assoc(q, v, v)", "assoc: k is [16, 32], expected [N, D] = [any, 64] to match q"},
  {"assoc(q, k8, v)", "assoc: v is [16, 32], expected [N, M] = [8, any] to match k"},
  {"prefix(q, k8, v8)", "prefix: k is [8, 64], expected [N, D] = [16, 64] to match q"},
  {"sim(q, k8, v8, {causal=true})", "sim: k is [8, 64], expected [N, D] = [16, 64] to " ..
    "match q, as attention is causal"},
  {"prefix_grad(q, k, v, q)", "prefix_grad: dout is [16, 64], expected [N, M] = [16, 32] to " ..
    "match the output"},
  {"prefix(q, k, v, {eps=-1})", "prefix: eps is -1, expected 0 or more"},
})

wrong("to attend by a map or a similarity of one's own", {
  {"phi.elu(t)", "phi: 'elu' is no feature map; did you mean 'elu1'? There are elu1, relu, " ..
    "relu2, exp_features, identity, softplus, poly2"},
  {"assoc(q, k, v, {phi='softmax'})", "assoc: exp(q.k) has no finite feature map, so it " ..
    "can't be split into phi(q).phi(k) (eq 4); hint: sim(q, k, v, {by='softmax'}) takes it"},
  {"assoc(q, k, v, {phi=sum2})", "phi: the function returned the number 0, expected a " ..
    "tensor [16, C]: one row of features for each of its rows"},
  {"sim(q, k, v, {by=function(a, b) return a * b end})", "sim: by returned tensor [64] " ..
    "float32, expected a number: the similarity of q_i and k_j"},
  {"prefix_grad(q, k, v, v, {phi=sum2})", "prefix_grad: the feature map is a function " ..
    "without its derivative; hint: give {apply=function(t) .. end, grad=function(t, " ..
    "dfeatures) .. end}"},
  {"sim_grad(q, k, v, v, {by=sum2})", "sim_grad: by is a function of q_i and k_j, whose " ..
    "derivative nobody knows; hint: as a feature map it can have one: {apply=, grad=}"},
})

wrong("to cut a sequence in pieces: the state", {
  {"prefix(q, k, v, {state={S=zeros(64, 32)}})", "prefix: state.z is nil, expected a " ..
    "tensor: S and z are sums over the same tokens, one is of no use without the other " ..
    "(eqs 10, 11)"},
  {"prefix(q, k, v, {state={S=zeros(64, 32), z=zeros(32)}})", "prefix: state.z is [32], " ..
    "expected [(B, (H,)) C] = [64]"},
  {"prefix(q, k, v, {state=st})", "prefix: state is S [2, 3], expected [(B, (H,)) C, M] = " ..
    "[64, 32] to match q and v"},
  {"prefix_grad(q, k, v, v, {dstate=3})", "prefix_grad: dstate is the number 3, expected " ..
    "{S=, z=}"},
  {"prefix(q, k, v, {offsets={0, 8, 16}})", "prefix: unknown option 'offsets', expected " ..
    "one of phi, state, chunk, method, final, eps, precision, impl"}, -- SHP-16
})

wrong("to go token by token", {
  {"rnn(64, 32)", "rnn: the argument is the number 64, expected a table {D=, M=}"},
  {"rnn{D=64}", "rnn: M is missing, expected {D=, M=}: the widths of one head's queries and " ..
    "keys, and of its values"},
  {"rnn{d_model=10, H=4}", "rnn: d_model is 10, which is not a multiple of H = 4; expected " ..
    "D and M, the widths of one head"}, -- SHP-17
  {"st:step(zeros(1, 2), zeros(1, 2), zeros(1, 3))", "rnn:step: q is [1, 2], expected [D] " ..
    "to match the state"},
  {"st:step(zeros(3), zeros(3), zeros(3))", "rnn:step: q is [3], expected [D] = [2] to match " ..
    "the state"},
  {"st:run(zeros(4, 2), zeros(4, 2), zeros(5, 3))", "rnn:run: v is [5, 3], expected [N, M] " ..
    "= [4, 3] to match k and the state"},
  {"st.step(zeros(2), zeros(2), zeros(3))", "step: the state is tensor [2] float32, expected " ..
    "an rnn or kv; hint: st:step(..) with a colon"},
  {"st:stp()", "rnn state: there is no 'stp'; did you mean 'step'?"},
  {"rnn.load('no.rnn')", "rnn.load: no.rnn: can't read: No such file or directory"},
})

wrong("to check that two forms agree", {
  {"equiv(q, k, v, {dtype='float64'})", "equiv: unknown option 'dtype'; did you mean " ..
    "'dtypes'?"},
  {"equiv(q, k, v, {dtypes='float64'})", "equiv: dtypes is a string, expected a list of " ..
    "names"},
  {"gradcheck(q, k, v)", "gradcheck: form is tensor [16, 64] float32, expected one of sim, " ..
    "assoc, prefix, rnn"},
  {"bench(sim(q, k, v))", "bench: f is a tensor, expected a function; hint: " ..
    "bench(function() return sim(q, k, v) end)"},
})

wrong("to use a name that is not there", {
  {"smi(q, k, v)", "undefined variable 'smi': did you mean 'sim'?"},
  {"unpack{1, 2}", "undefined variable 'unpack': it is table.unpack in Lua 5.4"},
})

tap.done()
