-- help.lua: every public name has a complete entry, and help finds it however it is asked.
local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local test, is = tap.test, tap.is

local names = require "tarn.names"

-- What a function writes to io.output.
local function written(f, ...)
  local path = os.tmpname()
  local file, before = assert(io.open(path, "w")), io.output()
  io.output(file)
  local ok, why = pcall(f, ...)
  io.output(before)
  file:close()
  local text = assert(io.open(path)):read("a")
  os.remove(path)
  assert(ok, why)
  return text
end

local function shows(text, ...)
  local got = written(help, ...)
  if not got:find(text, 1, true) then error("no '" .. text .. "' in:\n" .. got, 2) end
end

mine, noisy = zeros(2), setmetatable({}, {__index = error, __tostring = error})
test("a variable is told by its type, and nothing of it is run", function()
  shows("a tensor; ?t:sum says more", "mine")
  shows("noisy is a variable, a table; show(noisy) shows it", "noisy")
  mine, noisy = nil, nil
end)

-- ---- chapters ------------------------------------------------------------------------

test("what a chapter says that it explains is an entry, once in the book, and is in its text", function()
  local explained = {}
  for _, chapter in ipairs(require "tarn.chapters") do
    local text = assert(io.open(os.getenv "srcdir" .. "/" .. chapter.file)):read "a"
    text = text:gsub("<!%-%- help:.-%-%->", "")
    for _, key in ipairs(chapter.names) do
      assert(names.by_key[key], chapter.file .. ": help: no entry " .. key)
      assert(not explained[key], key .. " is explained twice")
      explained[key] = true
      local word = key:match("^t([.:].*)$") or key
      assert(text:find(word, 1, true), chapter.file .. " does not speak of " .. key)
    end
  end
  for _, key in ipairs {"sim", "phi", "assoc", "prefix", "rnn", "kv", "prefix_grad", "equiv", "emu"} do
    assert(explained[key], "no chapter explains " .. key)
  end
end)

test("an entry ends with its chapter, in C as well", function()
  shows("chapter   4 Causal masking is a prefix sum (doc/en/04-prefix-sum.md)", "prefix")
  shows("(doc/en/04-prefix-sum.md)", "tarn_prefix")
  shows("(doc/en/05-rnn.md)", "tarn_rnn_step")
  shows("(doc/en/02-feature-maps.md)", "phi.relu")
end)

-- ---- completeness --------------------------------------------------------------------

test("every name in the table tarn, and every method and field, is listed", function()
  for name in pairs(tarn) do assert(names.by_name[name], "tarn." .. name .. " has no entry") end
  local meta = getmetatable(zeros(1))
  for name in pairs(meta.__methods) do
    assert(names.by_key["t:" .. name] or names.by_key[name], "no entry t:" .. name)
  end
  for _, name in ipairs(meta.__fields) do assert(names.by_key["t." .. name], "no entry t." .. name) end
  for _, cell in ipairs {rnn {D = 1, M = 1}, kv {D = 1, M = 1}} do
    local methods, fields = getmetatable(cell).__methods, getmetatable(cell).__fields
    for name in pairs(methods) do assert(names.by_key["st:" .. name], "no entry st:" .. name) end
    for _, name in ipairs(fields) do assert(names.by_key["st." .. name], "no entry st." .. name) end
  end
  for name in pairs(rnn) do assert(names.by_key["rnn." .. name], "no entry rnn." .. name) end
end)

test("every listed name is there", function()
  local fields = {load = true}
  for _, value in ipairs {zeros(1), rnn {D = 1, M = 1}} do
    for _, field in ipairs(getmetatable(value).__fields) do fields[field] = true end
    for name in pairs(getmetatable(value).__methods) do fields[name] = true end
  end
  for name in pairs(names.by_name) do
    assert(rawget(tarn, name) ~= nil or fields[name], name .. " is missing")
  end
  for _, name in ipairs(names.globals) do
    assert(_G[name] == tarn[name] and _G[name] ~= nil, name .. " is not global")
  end
end)

test("what one types in an example fits a window of 80 columns, behind its label", function()
  local label = #"  example   "
  for _, e in ipairs(require "tarn.help_entries") do
    for line in (e.example or ""):gmatch("[^\n]+") do
      local typed = line:find("^>") and label + utf8.len(line) or 0
      assert(typed <= 80, ("%s: %d columns: %s"):format(e.key, typed, line))
    end
  end
end)

test("every entry says all that an entry must say, and none stands outside of the topics", function()
  local listed = {}
  for _, topic in ipairs(names.topics) do
    for _, e in ipairs(topic) do
      listed[e.key] = true
      assert(e.sentence:find("[.:]$") or e.sentence:find("%.%.%.$"), e.key .. ": " .. e.sentence)
      assert(e.signature:find(e.name, 1, true), e.key .. ": " .. e.signature)
      local needed = e.about and {"about", "see"} or
        {"shapes", "math", "cost", "errors", "example", "see"}
      for _, label in ipairs(needed) do
        assert(e[label] and e[label] ~= "", e.key .. " has no " .. label)
      end
      if e.example then assert(e.example:find("^> "), e.key) end
    end
  end
  for _, e in ipairs(require "tarn.help_entries") do
    assert(e.aliasing or listed[e.key], e.key .. " at " .. e.place .. " is in no topic")
  end
end)

test("every function of tarn.h has an entry with shapes, math, cost, errors, aliasing", function()
  assert(#names.in_c > 60, #names.in_c)
  for _, e in ipairs(names.in_c) do
    for _, label in ipairs {"sentence", "shapes", "math", "cost", "errors", "aliasing"} do
      assert(e[label] and e[label] ~= "", e.key .. " has no " .. label)
    end
  end
end)

-- ---- finding -------------------------------------------------------------------------

test("a name with what may stand around it", function()
  shows("prefix(q, k, v", "prefix")
  for _, way in ipairs {"tarn.prefix", " prefix ", "prefix(q, k)", "'prefix'", '"prefix"', "prefix{}"} do
    is(written(help, way), written(help, "prefix"))
  end
end)

my_cache, my_tensor, ran = nil, nil, nil
test("methods: by tensor or cell, by a variable, or both", function()
  shows("Writes an rnn cell", "st:save")
  shows("Writes a .npy file", "t:save")
  shows("?st:save", "save")
  my_cache, my_tensor = kv {D = 1, M = 1}, zeros(1)
  assert(written(help, "my_cache:clone"):find("^st:clone"))
  assert(written(help, "my_tensor:clone"):find("^t:clone"))
  assert(written(help, "who_knows:clone"):find("^t:clone"))
  my_cache, my_tensor = nil, nil
end)

test("values: functions, methods, feature maps, tensors, cells, and what has no help", function()
  is(written(help, sim), written(help, "sim"))
  is(written(help, zeros(1).sum), written(help, "t:sum"))
  is(written(help, rnn {D = 1, M = 1}.step), written(help, "st:step"))
  is(written(help, rnn.load), written(help, "rnn.load"))
  is(written(help, rnn), written(help, "rnn"))
  is(written(help, phi.relu), written(help, "phi.relu"))
  shows("reshape", zeros(2))
  shows("an rnn cell", rnn {D = 1, M = 1})
  shows("a kv cache", kv {D = 1, M = 1})
  for _, value in ipairs {3, true, {}, function() end, io.stdout, coroutine.create(print)} do
    shows("no help on this " .. type(value), value)
  end
  shows("no help on this nil", nil)
end)

test("Lua's own functions: where to read about them", function()
  shows("manual.html#pdf-string.format", "string.format")
  shows("print is one of Lua's own", "print")
  is(written(help, print), written(help, "print"))
end)

test("every feature map has an entry, with what it gives as an example", function()
  for _, map in ipairs(phis()) do
    shows("phi." .. map.name .. "(t)", "phi." .. map.name)
    shows("> phi." .. map.name, "phi." .. map.name)
  end
  shows("eq 7", "elu1")
  shows("?phi.relu", "relu")
end)

test("commands of the prompt, signs, words, functions in C", function()
  shows(":save FILE", ":save")
  shows(":bt", "bt")
  shows("!cmd", "!ls -l")
  shows("element by element", "+")
  shows("element by element", "==")
  shows("t[i]", "t[i]")
  shows("B batch", "shapes")
  shows("tarn_status tarn_prefix(", "tarn_prefix")
  shows("aliasing", "tarn_prefix")
end)

test("all names without a name", function()
  for _, topic in ipairs(names.topics) do shows(topic.title) end
  is(written(help, "  "), written(help))
end)

test("a suggestion for a misspelt name; none for what is far from all", function()
  shows("no help on 'prefx': did you mean 'prefix'?", "prefx")
  shows("did you mean 'tarn_prefix'?", "tarn_prefx")
  shows("no help on 'qqqqq'. help()", "qqqqq")
  shows("no help on 'mask'; see where, sim, lengths.", "mask")
  shows("The four stages", "tarn")
end)

test("odd names are no errors, are not run, and nothing of them reaches the terminal", function()
  for _, odd in ipairs {"'", "%s", "%", "(", "[", "a.b.c:d", ":", ".", "\0", "elu1 ", "\27[2J",
      "\xff\xfe", "os.exit()", "(function() ran = true end)()", "t[", ("x"):rep(1000000),
      (" "):rep(1000000) .. "a", ("(").rep("(", 100000), "?", "!", ";", "\n", "^"} do
    local text = written(help, odd)
    assert(not text:find("[%z\1-\9\11-\31]"), odd)
    assert(#text < 4000)
  end
  is(ran, nil)
end)

-- ---- apropos -------------------------------------------------------------------------

local function first_found(text)
  return written(apropos, text):match("^%S+")
end

test("apropos: names before sentences before the rest; words may stand apart", function()
  is(first_found("prefix sum"), "prefix")
  is(first_found("PREFIX"), "prefix")
  is(first_found("handwritten digit"), "mnist")
  is(first_found("Box-Muller"), "randn")
  is(first_found("matrix identity"), "eye")
end)

test("apropos: says when there is nothing, and what may have been meant", function()
  assert(written(apropos, "qqqqq"):find("no entry has 'qqqqq'", 1, true))
  assert(written(apropos, ""):find("no entry has ''", 1, true))
  written(apropos, ("x"):rep(1000000))
  written(apropos, "%s [")
  tap.raises("apropos: text is the number 3, expected a string", apropos, 3)
  tap.raises("apropos: text is missing, expected a string", apropos)
end)

-- ---- looks ---------------------------------------------------------------------------

test("in a window of 40 columns no line is longer, except in examples and long words", function()
  local host = require "tarn.host"
  local columns = host.columns
  host.columns = function() return 40 end
  for _, topic in ipairs(names.topics) do
    for _, e in ipairs(topic) do
      local text = written(help, e.key):gsub("  example\n(.-)\n  see", "")
      for line in text:gmatch("[^\n]+") do
        assert(#line <= 40 or not line:find("%S %S"), e.key .. ": " .. line)
      end
    end
  end
  host.columns = columns
end)

tap.done()
