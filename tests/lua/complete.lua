-- complete.lua: what the word at the cursor may go on as, and that asking runs nothing.
local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local test, is = tap.test, tap.is

local complete = require("tarn.complete").complete
local public = require("tarn.env").public

-- Completes a line at its end, or at the sign | in it.
local function at(line)
  local before, after = line:match("^(.-)|(.*)$")
  if not before then before, after = line, "" end
  return complete(public, before .. after, #before)
end

-- Checks the candidates, a string of words; what is appended to a single one after "+".
local function gives(line, expected)
  local result = at(line)
  local got = table.concat(result.names, " ")
  if #result.names == 1 and result.append ~= "" then got = got .. " + " .. result.append end
  if got ~= expected then
    error(("%s gives %s, expected %s"):format(line, got, expected), 2)
  end
end

local function includes(line, ...)
  local known = {}
  for _, name in ipairs(at(line).names) do known[name] = true end
  for _, name in ipairs {...} do
    if not known[name] then error(line .. " does not give " .. name, 2) end
  end
end

local function lacks(line, name)
  for _, found in ipairs(at(line).names) do
    if found == name then error(line .. " gives " .. name, 2) end
  end
end

some = {inner = {deep_field = 77, deep_call = function(a, b, ...) end}, ["not a name"] = 1}
trap = {}
sim = function(mine) end -- hides tarn.sim
x = zeros(2, 3)
st = rnn{D = 2, M = 3}
cache = kv{D = 2, M = 3}

test("globals: Lua's, tarn's, the user's own, and the words of Lua", function()
  gives("zer", "zeros + (")
  gives("print(zer", "zeros + (")
  includes("t", "tostring", "type", "tensor", "then", "true", "tarn")
  gives("som", "some")
  gives("whi", "while +  ")
  gives("rn", "rnn rnn_grad")
  gives("nosuchname", "")
end)

test("variables of the same input", function()
  gives("local alphabet = 1 print(alph", "alphabet")
  gives("function f(first_one, second_one)\n  return first", "first_one")
  gives("for index_of_it = 1, 2 do print(index_", "index_of_it")
  gives("some.alphabet = 1 print(alph", "")
  gives("alph", "")
end)

test("fields and methods, of tables within tables and inherited ones", function()
  gives("some.", "inner")
  gives("some.inner.deep_f", "deep_field")
  gives("y = some.inner:deep", "deep_call + (")
  gives("math.flo", "floor + (")
  some.child = setmetatable({}, {__index = setmetatable({mine = 1}, {__index = some.inner})})
  gives("some.child.", "deep_call deep_field mine")
  some.child = nil
end)

test("fields and methods of tensors, cells, caches, strings and files", function()
  gives("x:resh", "reshape + (")
  gives("x.", (function()
    local all = {"device", "dtype", "shape", "strides"}
    for name in pairs(debug.getmetatable(x).__methods) do all[#all + 1] = name end
    table.sort(all)
    return table.concat(all, " ")
  end)())
  lacks("x:", "shape")
  gives("st:r", "reset run")
  includes("st.", "S", "z", "t", "step")
  gives("cache.t", "t")
  gives('("x"):re', "rep reverse")
  gives("io.stdout:see", "seek + (")
end)

test("tarn itself, feature maps, rnn", function()
  includes("tarn.", "sim", "version", "exp", "phi")
  gives("phi.elu", "elu1 + (")
  gives("tarn.phi.elu", "elu1 + (")
  gives("rnn.", "load + (")
end)

test("what tarn's own functions give is known without running them", function()
  includes("zeros(3).", "shape", "sum")
  gives("zeros(3):resh", "reshape + (")
  gives("prefix(x, x, x):sum(1):resh", "reshape + (")
  gives("rnn{D = 1, M = 1}:ste", "step + (")
  gives("st:clone():ste", "step + (")
  gives("x:item():", "")
  gives("st.S:resh", "reshape + (")
  gives("st.t:", "")
  gives("x.shape:", "")
  gives("phi.elu1(x):resh", "reshape + (")
end)

test("what only running would tell is taken for a tensor after a colon", function()
  includes("zeros(3):", "sum", "reshape")
  includes("x[1]:", "sum")
  includes("some.inner.deep_call(1):", "sum", "reshape")
  includes("({1, 2})[1]:", "sum")
  gives("io.open('x'):", "")
  gives("x[1].", "")
end)

test("a table with __index as a function is not asked", function()
  local calls = 0
  local count = function() calls = calls + 1 return {} end
  trap = setmetatable({own = 1}, {__index = count, __pairs = count, __len = count,
    __call = count, __eq = count, __name = count, __newindex = count})
  gives("trap.", "own")
  gives("trap.x", "")
  gives("trap.x.y:", "")
  at("trap(")
  at("trap{")
  at('trap("')
  at("trap:f(1, ")
  is(calls, 0)
  setmetatable(_G, {__index = count})
  gives("nosuch.na", "")
  setmetatable(_G, nil)
  is(calls, 0)
end)

test("odd metatables do no harm", function()
  for _, meta in ipairs {{__index = 1}, {__index = {}}, {__metatable = "locked"}} do
    trap = setmetatable({own = 1}, meta)
    gives("trap.", "own")
  end
  trap = {own = 1}
  setmetatable(trap, {__index = trap})
  gives("trap.", "own")
  gives("trap.x", "")
end)

test("options of the call whose table is open, without those given", function()
  gives("prefix(q, k, v, {me", "method + =")
  includes("prefix(q, k, v, {", "phi", "chunk", "final", "impl")
  lacks('prefix(q, k, v, {phi="elu1", ', "phi")
  gives('prefix(q, k, v, {phi="elu1", |, method="scan"}).x', at("prefix(q, k, v, {").names[1] and
    table.concat((function()
      local left = {}
      for _, name in ipairs(at("prefix(q, k, v, {").names) do
        if name ~= "phi" then left[#left + 1] = name end
      end
      return left
    end)(), " "))
  gives("tarn.rnn{dt", "dtype + =")
  gives("x:sum({kee", "keepdim + =")
  gives("zeros(2, 3, {dty", "dtype + =")
  includes("full({zer", "zeros")
  includes("show({zer", "zeros")
  includes("prefix(q, k, v, {state=s", "st", "some")
  gives("prefix(q, k, v, {me|=1", "method")
end)

test("words of options", function()
  gives('tarn.sim(q, k, v, {by="so', "softmax softplus")
  gives('prefix(q, k, v, {eps=1e-6, method="s', "scan sequential")
  gives("prefix(q, k, v, {method='ch", "chunked")
  gives('zeros(2, {dtype="', "float32 float64")
  gives('rnn{D=2, M=2, phi="elu', "elu1")
  gives('equiv(q, k, v, {dtypes={"float32", "', "float32 float64")
  gives('rand(2, {device="', "cpu cuda emu")
  gives('prefix(q, k, v, {precision="', "accurate bf16 fast tf32")
  gives('emu{order="re', "reversed")
  if pcall(emu) then gives('emu{gpu="sm_7', "sm_75") end
  is(at('tarn.sim(q, k, v, {by="so').quoted, true)
end)

test("words of arguments", function()
  gives('x:to("float', "float32 float64")
  gives('phi("relu', "relu relu2")
  gives('gradcheck("', "assoc prefix rnn sim")
  includes('help("pre', "prefix", "prefix_grad")
  gives('help("x:su', "")
  gives('help("t:su', "t:sum")
  gives('require "tarn.sho', "tarn.show")
  gives('require("stri', "string")
end)

test("other strings are names of files", function()
  for _, line in ipairs {'read("', "io.open('da", 'x:save("a/b', '"', 'f("a", "',
      'print(sim(q, k, v), "', 'prefix(q, k, v, {nosuch="'} do
    is(at(line).files, true)
    is(#at(line).names, 0)
  end
  is(at("x = 1").files, nil)
end)

test("help topics after ?", function()
  includes("?pre", "prefix", "prefix_grad")
  gives("? t:su", "t:sum")
  gives("?phi.elu", "phi.elu1")
  gives("?st:st", "st:step")
  gives("?t[", "t[i]")
  gives("?tarn_pref", "tarn_prefix tarn_prefix_grad")
end)

test("commands of the prompt, and names of files after :save and !", function()
  gives(":", "bt save")
  gives(" :sa", "save +  ")
  is(at(":save la").files, true)
  is(at(":save la").word, "la")
  is(at("!cat data/x").word, "data/x")
  gives(":bt x", "")
end)

test("nothing in comments, numbers and long strings", function()
  for _, line in ipairs {"-- zer", "x = 12", "x = 1e", "[[zer", "--[[ zer", "y = .5"} do
    gives(line, "")
    is(at(line).note, nil)
  end
  gives("--[[ a ]] zer", "zeros + (")
  gives("[==[ ]] ]==] zer", "zeros + (")
  gives("1 .. zer", "zeros + (")
  gives("x = 'it\\'s' .. zer", "zeros + (")
end)

test("the signature of the function at hand", function()
  is(at("prefix(").note:match("^prefix%(q, k, v, {"), "prefix(q, k, v, {")
  is(at("y = prefix(q, ").note, at("prefix(").note)
  is(at("x:reshape(").note:match("^t:reshape"), "t:reshape")
  is(at("x:resh").note, at("x:reshape(").note)
  is(at("st:step(").note:match("^st:step"), "st:step")
  is(at("zeros(3):sum(").note:match("^t:sum"), "t:sum")
  is(at("rnn.load(").note:match("^rnn.load"), "rnn.load")
  is(at("phi.elu1(").note, "phi.elu1(t) -> tensor")
  is(at("some.inner.deep_call(").note, "some.inner.deep_call(a, b, ...)")
  is(at("math.floor(").note, nil)
  is(at("nosuch(").note, nil)
  is(at("function prefix(").note, nil)
  is(at("sim(").note, "sim(mine)")
end)

test("nothing is appended that stands there already", function()
  gives("zer|(3)", "zeros")
end)

test("any bytes at any cursor give an answer", function()
  local pieces = {"x", ".", ":", "(", ")", "{", "}", "[", "]", '"', "'", "\\", "--", "[[", "]]",
    "=", ",", "?", "!", " ", "\n", "\0", "\xff", "é", "sim", "by", "1", "..", "function"}
  local next_number = 1
  for _ = 1, 3000 do
    local line = {}
    for i = 1, 12 do
      next_number = (next_number * 1103515245 + 12345) & 0x7fffffff
      line[i] = pieces[(next_number >> 8) % #pieces + 1]
    end
    line = table.concat(line)
    for point = 0, #line do
      local result = complete(public, line, point)
      assert(line:sub(1, point):sub(-#result.word - 1):find(result.word, 1, true), line)
    end
  end
end)

tap.done()
