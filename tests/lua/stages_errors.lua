-- Wrong calls of the stages, and what they are told. This file is meant to be read: each
-- line is a mistake somebody makes, with the message that helps him on.

local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local test, raises = tap.test, tap.raises

local q, k, v = zeros(16, 64), zeros(16, 64), zeros(16, 32)

test("an argument that is no tensor", function()
  raises("sim: q is nil, expected a tensor", sim)
  raises("assoc: k is a table, expected a tensor", assoc, q, {k}, v)
  raises("prefix: v is the number 3, expected a tensor", prefix, q, k, 3)
  raises("prefix_grad: dout is nil, expected a tensor", prefix_grad, q, k, v)
end)

test("options that are no table", function()
  raises("assoc: argument 4 is a string, expected a table of options", assoc, q, k, v, "relu")
end)

test("an option with a slip of the finger", function()
  raises("prefix: unknown option 'chunks'; did you mean 'chunk'?", prefix, q, k, v,
    {chunks = 3})
  raises("sim: unknown option 'casual'; did you mean 'causal'?", sim, q, k, v, {casual = true})
end)

test("softmax where a finite feature map is needed", function()
  local why = ": exp(q.k) has no finite feature map, so it can't be split into phi(q).phi(k) " ..
    "(eq 4); hint: sim(q, k, v, {by='softmax'}) takes it"
  raises("assoc" .. why, assoc, q, k, v, {phi = "softmax"})
  raises("prefix" .. why, prefix, q, k, v, {by = "softmax"})
  raises("rnn" .. why .. ", kv{} is its cache", rnn, {D = 2, M = 2, phi = "softmax"})
  raises("assoc: exp(-|q-k|^2/2) has no finite feature map, so it can't be split into " ..
    "phi(q).phi(k) (eq 4); hint: sim(q, k, v, {by='rbf'}) takes it", assoc, q, k, v,
    {phi = "rbf"})
end)

test("SHP-11: a mask", function()
  raises("assoc: there is no option 'mask': a mask over pairs of query and key can't be " ..
    "split into features of each (eq 5); padding is lengths= in sim and assoc, order is " ..
    "causal=true in sim, or prefix", assoc, q, k, v, {mask = zeros(16, 16)})
end)

test("an option of another form", function()
  raises("sim: there is no option 'phi': a similarity is chosen with by=, for example " ..
    "by='elu1'", sim, q, k, v, {phi = "elu1"})
  raises("prefix: there is no option 'by': only sim takes any similarity; a feature map is " ..
    "chosen with phi=", prefix, q, k, v, {by = "elu1"})
  raises("assoc: there is no option 'causal': assoc sees all keys, prefix and rnn only those " ..
    "up to the query; sim has the choice", assoc, q, k, v, {causal = true})
  raises("prefix: there is no option 'lengths': in a causal form no token sees the padding " ..
    "that comes after it; ignore the outputs there", prefix, q, k, v, {lengths = {3}})
end)

test("a name that is no map, no method, no implementation", function()
  raises("prefix: 'elu' is no feature map; did you mean 'elu1'? There are elu1, relu, relu2, " ..
    "exp_features, identity, softplus, poly2", prefix, q, k, v, {phi = "elu"})
  raises("sim: 'sofmax' is no similarity; did you mean 'softmax'? There are softmax, rbf, " ..
    "elu1, relu, relu2, exp_features, identity, softplus, poly2", sim, q, k, v,
    {by = "sofmax"})
  raises("prefix: method is 'sequentail', expected one of chunked, sequential, scan; did you " ..
    "mean 'sequential'?", prefix, q, k, v, {method = "sequentail"})
  raises("prefix: impl is 'fats', expected one of fast, plain, k1, k2, k3, k4, tf32, " ..
    "tf32k2, bf16, bf16k2; did you mean 'fast'?", prefix, q, k, v, {impl = "fats"})
end)

test("a value of the wrong kind", function()
  raises("prefix: chunk is 0, expected 1 or more tokens", prefix, q, k, v, {chunk = 0})
  raises("prefix: chunk is the number 1.5, expected an integer", prefix, q, k, v,
    {chunk = 1.5})
  raises("prefix: final is the number 1, expected true or false", prefix, q, k, v,
    {final = 1})
  raises("prefix: state is the number 1, expected an rnn state or {S=, z=}", prefix, q, k, v,
    {state = 1})
end)

test("SHP-13: lengths that can't be, before anything is computed", function()
  local a, b = zeros(16, 1, 512, 2), zeros(16, 1, 512, 2)
  local function lengths(last, count)
    local list = {}
    for i = 1, count or 16 do list[i] = 512 end
    list[#list] = last
    return {lengths = list}
  end
  for _, f in ipairs {sim, assoc} do
    for _, case in ipairs {
      {lengths(512, 15), "15", "16"}, {lengths(513), "513", "512"}, {lengths(-1), "-1", "512"},
    } do
      local ok, why = pcall(f, a, b, b, case[1])
      assert(not ok and why:find("lengths", 1, true) and why:find(case[2], 1, true) and
        why:find(case[3], 1, true), why)
    end
  end
  raises("sim: lengths[16] is the number 2.5, expected a whole number of keys", sim, a, b, b,
    lengths(2.5))
  raises("sim: lengths[16] is a string, expected a whole number of keys", sim, a, b, b,
    lengths("5"))
  raises("sim: lengths is the number 5, expected a table or a tensor [B] of integers, one for " ..
    "each batch entry", sim, a, b, b, {lengths = 5})
  raises("sim: lengths is tensor [4, 4] float32, expected a table or a tensor [B] of " ..
    "integers, one for each batch entry", sim, zeros(4, 1, 4, 2), zeros(4, 1, 4, 2),
    zeros(4, 1, 4, 2), {lengths = zeros(4, 4)})
end)

test("SHP-17: sizes of a cell", function()
  raises("rnn: the argument is missing, expected a table {D=, M=}", rnn)
  raises("rnn: D is missing, expected {D=, M=}: the widths of one head's queries and keys, " ..
    "and of its values", rnn, {M = 3})
  raises("rnn: D is 0, expected 1 or more", rnn, {D = 0, M = 3})
  raises("rnn: H is 0, expected 1 or more", rnn, {D = 2, M = 3, H = 0})
  raises("rnn: M is -3, expected 1 or more", rnn, {D = 2, M = -3})
  raises("kv: D is the number 2.5, expected an integer", kv, {D = 2.5, M = 3})
  raises("rnn: d_model is 10, which is not a multiple of H = 4; expected D and M, the widths " ..
    "of one head", rnn, {d_model = 10, H = 4})
  raises("rnn: there is no option 'd_model'; D and M are the widths of one head: d_model / H " ..
    "= 256 / 8 = 32", rnn, {d_model = 256, H = 8})
  raises("rnn: B is 2 without H, expected H as well", rnn, {D = 2, M = 3, B = 2})
  raises("rnn: there is no device 'quantum', expected 'cpu', 'emu' or 'cuda'", rnn,
    {D = 2, M = 3, device = "quantum"})
end)

test("methods of a state", function()
  local st = rnn {D = 2, M = 3}
  raises("step: the state is tensor [16, 64] float32, expected an rnn or kv; hint: st:step(..) " ..
    "with a colon", st.step, q, k, v)
  raises("rnn state: there is no 'rset'; did you mean 'reset'?", function() return st.rset end)
  raises("rnn state: there is no 'state'; fields are S, z, t and device",
    function() return st.state end)
  raises("kv cache: there is no 'S'; fields are t and device", function() return kv {D = 1, M = 1}.S end)
  raises("st.S can't be assigned; hint: prefix and rnn_grad take any state, {state={S=, z=}}",
    function() st.S = zeros(2, 3) end)
end)

test("a comparison of what is not there", function()
  for _, b in ipairs(backends()) do
    if not b.usable then
      raises(("equiv: devices[1] is '%s', which can't be used: %s"):format(b.device, b.why),
        equiv, q, k, v, {devices = {b.device}})
    end
  end
  raises("equiv: dtypes[2] is 'float16', expected float32 or float64; " ..
    "did you mean 'float32'?", equiv, q, k, v,
    {dtypes = {"float32", "float16"}})
  raises("equiv: impls is an empty table, expected a list of names", equiv, q, k, v,
    {impls = {}})
  raises("equiv: by and phi are both given, expected one of them", equiv, q, k, v,
    {by = "softmax", phi = "elu1"})
  raises("gradcheck: form is 'assok', expected one of sim, assoc, prefix, rnn; did you mean " ..
    "'assoc'?", gradcheck, "assok", q, k, v)
  raises("gradcheck: form is missing, expected sim, assoc, prefix or rnn", gradcheck)
end)

tap.done()
