-- show_values.lua: how values other than tensors look, and what who() lists.
local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local test, is = tap.test, tap.is

-- What a function writes to io.output and by print.
local function written(f, ...)
  local path = os.tmpname()
  local file, before, print_before = assert(io.open(path, "w")), io.output(), rawget(_G, "print")
  io.output(file)
  rawset(_G, "print", function(...) file:write(table.concat({...}, "\t"), "\n") end)
  local ok, why = pcall(f, ...)
  rawset(_G, "print", print_before)
  io.output(before)
  file:close()
  local text = assert(io.open(path)):read("a")
  os.remove(path)
  assert(ok, why)
  return text
end

local function looks(value, text) is(written(show, value), text .. "\n") end

test("strings are quoted as Lua would read them", function()
  looks('a "b"\n\t\\', [["a \"b\"\n\t\\"]])
  looks("\0\27x\1", [["\0\27x\001"]])
  looks("\255", [["\255"]])
end)

test("numbers, nil, booleans", function()
  looks(1, "1")
  looks(1.0, "1.0")
  looks(0.1, "0.1")
  looks(0 / 0, "nan")
  looks(-(0 / 0), "nan")
  looks(-1 / 0, "-inf")
  looks(nil, "nil")
  looks(true, "true")
end)

test("tables are sorted: list, numbers, names", function()
  looks({}, "{}")
  looks({1, "a", {2}}, '{1, "a", {2}}')
  looks({b = 1, a = 2, 9}, "{9, a = 2, b = 1}")
  looks({[3] = 1, ["a b"] = 2, [true] = 3}, '{[3] = 1, ["a b"] = 2, [true] = 3}')
  looks({[1.5] = 1, [-1] = 2}, "{[-1] = 2, [1.5] = 1}")
end)

test("a list of nil has its holes left out", function() looks({nil, 2}, "{[2] = 2}") end)

test("long tables take a line for each entry", function()
  local t = {}
  for i = 1, 8 do t["name_of_entry_" .. i] = i end
  local text = written(show, t)
  assert(text:find("^{\n  name_of_entry_1 = 1,\n  name_of_entry_2 = 2,\n"), text)
  assert(text:find("name_of_entry_8 = 8\n}\n$"), text)
end)

test("a list of numbers is a paragraph", function()
  local t = {}
  for i = 1, 30 do t[i] = i * 1000 end
  local text = written(show, t)
  assert(text:find("^{\n  1000, 2000, 3000,"), text)
  for line in text:gmatch("[^\n]+") do assert(#line <= 80, line) end
end)

test("very long tables are cut, and the number of the others is told", function()
  local t = {}
  for i = 1, 1000 do t[i] = i end
  assert(written(show, t):find("(960 more)", 1, true))
  assert(not written(show, t, {full = true}):find("more", 1, true))
end)

test("a table in itself, and deep ones, come to an end", function()
  local t = {}
  t.t = t
  assert(written(show, t):find("itself", 1, true))
  local deep = {}
  for _ = 1, 10000 do deep = {deep} end
  assert(#written(show, deep) < 100)
end)

test("metatables are not asked, but for __tostring", function()
  local trap = function() error("asked") end
  looks(setmetatable({1}, {__index = trap, __len = trap, __pairs = trap}), "{1}")
  looks(setmetatable({}, {__tostring = function() return "mine" end}), "mine")
end)

test("tensors in tables are one line", function()
  looks({x = zeros(2, 3)}, "{x = tensor [2, 3] float32 cpu}")
end)

test("functions are named", function()
  looks(string.format, "function string.format")
  looks(phi.elu1, "function phi.elu1")
  looks(rnn.load, "function rnn.load")
  assert(written(show, sim):find("^function sim%(q, k, v"))
  assert(written(show, function() end):find("^function %(.*show_values.lua:%d+%)"))
  looks(coroutine.create(function() end), "coroutine (suspended)")
  looks({f = prefix}, "{f = function prefix(q, k, v, {…})}")
end)

test("what is called and what holds all variables say so", function()
  assert(tostring(rnn):find("^function rnn{D=, M=, H=, B=, phi="))
  looks(_G, "_G: the global variables; who() lists those that are yours")
  looks(io.stderr, "file")
end)

test("a variable that takes the name of one of Lua's modules harms nothing but itself", function()
  local own, shown, helped = table, written(show, {1, 2}), written(help, "sim")
  table = 5
  local ok, again = pcall(written, show, {1, 2})
  table = own
  assert(ok, again)
  string = "text"
  local once_more = written(help, "sim")
  string = getmetatable("").__index
  is(once_more, helped)
  is(again, shown)
end)

who_number, who_tensor, who_text = nil, nil, nil
test("who lists variables with the bytes of tensors", function()
  assert(written(who):find("no variables of your own yet", 1, true))
  who_number, who_tensor, who_text = 5, zeros(10), ("x"):rep(1000)
  local text = written(who)
  assert(text:find("who_number  5\n", 1, true), text)
  assert(text:find("who_tensor  tensor [10] float32 cpu, 40 bytes\n", 1, true), text)
  assert(text:find("tensors: 40 bytes\n", 1, true), text)
  for line in text:gmatch("[^\n]+") do assert(#line < 82, line) end
end)

tap.done()
