-- show_values.lua: how values other than tensors look, what help() says, and that the
-- list of names is complete.
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
end)

test("every public name has one entry that says how it is called", function()
  local names = require "tarn.names"
  for _, topic in ipairs(names.topics) do
    for _, entry in ipairs(topic) do
      assert(entry.signature:find(entry.name, 1, true), entry.name)
      assert(entry.sentence:find("%.$") or entry.sentence:find(", %.%.%.$"), entry.name)
    end
  end
end)

test("every name in the table tarn, and every method, is listed", function()
  local names = require "tarn.names"
  for name in pairs(tarn) do assert(names.by_name[name], "tarn." .. name .. " has no entry") end
  local methods = getmetatable(zeros(1)).__methods
  for name in pairs(methods) do assert(names.by_name[name], "t:" .. name .. " has no entry") end
  for _, field in ipairs(getmetatable(zeros(1)).__fields) do
    assert(names.by_name[field], "t." .. field .. " has no entry")
  end
  for _, cell in ipairs {rnn {D = 1, M = 1}, kv {D = 1, M = 1}} do
    for name in pairs(getmetatable(cell).__methods) do
      assert(names.by_name[name], "st:" .. name .. " has no entry")
    end
  end
end)

test("every listed name is there", function()
  local names = require "tarn.names"
  local fields = {}
  for _, value in ipairs {zeros(1), rnn {D = 1, M = 1}} do
    for _, field in ipairs(getmetatable(value).__fields) do fields[field] = true end
    for name in pairs(getmetatable(value).__methods) do fields[name] = true end
  end
  for name in pairs(names.by_name) do
    assert(rawget(tarn, name) ~= nil or fields[name] or name == "load", name .. " is missing")
  end
  for _, name in ipairs(names.globals) do
    assert(_G[name] == tarn[name] and _G[name] ~= nil, name .. " is not global")
  end
end)

test("help: one entry, all names, a value, a method, a misspelt name", function()
  assert(written(help, "prefix"):find("^prefix%(q, k, v"))
  assert(written(help, "tarn.prefix") == written(help, "prefix"))
  assert(written(help, "t:sum"):find("^t:sum%("))
  assert(written(help, sim) == written(help, "sim"))
  assert(written(help):find("The four stages", 1, true))
  assert(written(help, "elu1"):find("^phi.elu1%(t%)\n  Feature map elu1"))
  assert(written(help, phi.relu) == written(help, "phi.relu"))
  assert(written(help, "relu"):find("^t:relu"))
  assert(written(help, zeros(2)):find("t:sum", 1, true))
  assert(written(help, "prefx"):find("did you mean 'prefix'?", 1, true))
  assert(written(help, "qqqqq"):find("no help on 'qqqqq'", 1, true))
  assert(written(help, nil):find("no help on this nil", 1, true))
  assert(written(help, 3):find("no help on this number", 1, true))
  for _, odd in ipairs {"'", "%s", "(", "[", "a.b.c", ":", "\0", "elu1 ", ("x"):rep(10000)} do
    written(help, odd)
  end
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
