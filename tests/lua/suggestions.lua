-- suggestions.lua: what may have been meant by a misspelt name, wherever one may stand, and
-- that modules which only ask whether a name exists get their answer.
local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local test, is, raises = tap.test, tap.is, tap.raises

local a, st, cache = randn(2, 3, {seed = 1}), rnn{D = 2, M = 2}, kv{D = 2, M = 2}

-- Checks that code, with the locals above as its arguments, fails and names what is meant.
local function suggests(code, meant)
  local f = assert(load("local a, st, cache = ... " .. code))
  local ok, message = pcall(f, a, st, cache)
  if ok then error(code .. " does not fail", 2) end
  if not message:find("did you mean '" .. meant .. "'?", 1, true) then
    error(code .. " says: " .. tostring(message), 2)
  end
end

test("globals", function()
  suggests("return prefx", "prefix")
  suggests("return prnt", "print")
  suggests("return ture", "true")
  suggests("return reshap", "t:reshape(n, m, ...)")
end)

test("methods and fields", function()
  suggests("a:summ()", "sum")
  suggests("return a.shap", "shape")
  suggests("st:stpe()", "step")
  suggests("cache:restt()", "reset")
end)

test("members of tarn's tables", function()
  suggests("return tarn.sun", "sum")
  suggests("tarn.equivv(a, a, a)", "equiv")
  suggests("rnn.lod('x')", "load")
  suggests("return phi.elu2", "elu1")
end)

test("options", function()
  suggests("prefix(a, a, a, {chunks = 2})", "chunk")
  suggests("zeros(2, {dtyp = 'float32'})", "dtype")
  suggests("a:sum(1, {keepdims = true})", "keepdim")
  suggests("allclose(a, a, {rtoll = 1})", "rtol")
  suggests("bench(print, {rnus = 1})", "runs")
  suggests("show(1, {digit = 1})", "digits")
  suggests("prefix(a, a, a, {state = {s = a, z = a}})", "S")
end)

test("words", function()
  suggests("sim(a, a, a, {by = 'sofmax'})", "softmax")
  suggests("prefix(a, a, a, {phi = 'elu'})", "elu1")
  suggests("prefix(a, a, a, {method = 'scann'})", "scan")
  suggests("prefix(a, a, a, {precision = 'fsat'})", "fast")
  suggests("prefix(a, a, a, {impl = 'plian'})", "plain")
  suggests("zeros(2, {dtype = 'floatt32'})", "float32")
  suggests("zeros(2, {device = 'cdua'})", "cuda")
  suggests("equiv(a, a, a, {dtypes = {'flaot64'}})", "float64")
  suggests("equiv(a, a, a, {impls = {'plian'}})", "plain")
  suggests("equiv(a, a, a, {devices = {'cpuu'}})", "cpu")
  suggests("a:to('flaot64')", "float64")
  suggests("phi('elu2')", "elu1")
  suggests("gradcheck('prefx', a, a, a)", "prefix")
end)

test("members of Lua's libraries, where the error is shown", function()
  local called = require("tarn.meant").called
  local function message(f) return select(2, pcall(f)) end
  is(called(message(function() math.sqroot(2) end)), "; did you mean 'math.sqrt'?")
  is(called(message(function() string.fromat("x") end)), "; did you mean 'string.format'?")
  is(called(message(function() return ("x"):uper() end)), "; did you mean 's:upper()'?")
  is(called(message(function() math.qqqqqqqqqq(2) end)), nil)
  is(called("attempt to index a nil value (field 'sqrtt')"), nil)
end)

test("what is near nothing gets no suggestion", function()
  tap.raises("tarn has no 'qqqqqqqq'", function() return tarn.qqqqqqqq end)
  tap.raises("rnn has no 'qqqqqqqq'", function() return rnn.qqqqqqqq end)
end)

test("names that other libraries have are told as they are here", function()
  raises("tensor has no method 'view'; here it is t:reshape(...)",
    function() return zeros(2):view(1) end)
  raises("tensor has no method 'cuda'; here it is t:to(\"cuda\")",
    function() return zeros(2):cuda() end)
  raises("tensor has no method 'size'; here it is t.shape", function() return zeros(2):size() end)
  raises("undefined variable 'torch': tarn's functions have no prefix, zeros(2, 3)",
    function() return torch.zeros(2) end)
end)

test("a shape prints as it looks, and says that its first dimension is not 0", function()
  is(tostring(zeros(3, 4).shape), "{3, 4}")
  is(tostring(zeros(3, 4).strides), "{4, 1}")
  is(tostring(tensor(1).shape), "{}")
  raises("there is no dimension 0; the first is t.shape[1]", function() return zeros(2).shape[0] end)
  is(zeros(2).shape[2], nil)
end)

test("syntax of other languages is told as it is in Lua", function()
  local syntax = require "tarn.meant".syntax
  local function hint(text) return syntax(select(2, load(text, "=x")), text) end
  is(hint("x != 1"), "; hint: not equal is ~=, and not x negates")
  is(hint("x += 1"), "; hint: there is no += or ++; write x = x + 1")
  is(hint("import torch"), '; hint: modules are loaded by require "name"')
  is(hint("y = x ** 2"), "; hint: a power is x ^ 2")
  is(hint("y = x @ x"), "; hint: a product of matrices is a:mm(b)")
  is(hint("y = tensor([1, 2])"), "; hint: a list is {1, 2, 3}")
  is(hint("y = f(x, eps=0)"), "; hint: names of arguments stand in braces, f(x, {name=value})")
  is(hint("print x"), "; hint: print is a function, print(x)")
  is(hint("x = y[1:2]"), "; hint: a range is t[{{a, b}}], b included")
  is(hint('y = "µ" .. “x”'),
    "; hint: outside of strings and comments Lua knows ASCII alone, not “")
  is(hint("x = = 1"), nil)
  is(syntax("x:1: 'then' expected near '!'"), "; hint: not equal is ~=, and not x negates")
end)

test("raw looks, and tables of the user's own, are left alone", function()
  is(rawget(tarn, "sun"), nil)
  is(rawget(_G, "sun"), nil)
  is(({}).sun, nil)
  is(tarn[1], nil)
end)

test("a module that probes globals loads, and sees and sets them", function()
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write([[
    local M = {}
    if unpack == nil then M.unpack = table.unpack end
    if os.getenv("NOSUCH") ~= nil or setfenv or loadstring then M.old = true end
    M.found = _G.some_global_that_is_not_there == nil
    for name in pairs(_G) do M.count = (M.count or 0) + 1 end
    made_by_module = 1
    return M]])
  file:close()
  package.preload.probing = loadfile(path, "t", debug.getregistry()[2])
  local module = require "probing"
  os.remove(path)
  is(module.unpack, table.unpack)
  is(module.old, nil)
  is(module.found, true)
  assert(module.count > 20)
  is(made_by_module, 1)
end)

test("a metatable that the user puts on _G is asked before the guard speaks", function()
  setmetatable(_G, {__index = function(_, name) return name == "made_up" and 7 or nil end})
  local found = made_up
  local ok, message = pcall(function() return not_made_up end)
  setmetatable(_G, nil)
  is(found, 7)
  is(ok, false)
  assert(message:find("undefined variable 'not_made_up'"), message)
end)

tap.done()
