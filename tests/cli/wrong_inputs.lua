-- wrong_inputs.lua: wrong inputs for one session of the prompt, and what it says to them.
--
--   tarn wrong_inputs.lua inputs          writes the inputs, each before a line that
--                                         writes a mark to standard error
--   tarn wrong_inputs.lua check ANSWERS   reads that standard error, writes TAP
--
-- Inputs written by hand stand in wrong_inputs.txt; an indented line goes on with the one
-- above it. Wrong calls are made from the help entries: for each argument of a signature its
-- wrong values in `arguments` take the place of the right one, and each option gets a value
-- that no option has. A new function is covered as soon as it has an entry; a new name of an
-- argument needs a line in `arguments`.

local names = require "tarn.names"
local signatures = require "tarn.signatures"

-- ---- the variables that the inputs use, and what must hold at the end -----------------------

local setup = [[
T = range(1, 6):reshape(3, 2)
Q, K, V = randn(4, 2, {seed=1}), randn(4, 2, {seed=2}), randn(4, 2, {seed=3})
cell = rnn{D=2, M=2}
first = cell:step(Q[1], K[1], V[1])
co = coroutine.create(print)
cycle = {}; cycle.self = cycle
raising = setmetatable({}, {__index=function() error("index raises") end,
  __tostring=function() error("tostring raises") end, __len=function() error("len raises") end,
  __pairs=function() error("pairs raises") end, __eq=function() error("eq raises") end})
list = {}
]]

local intact = [[
T:sum() == 21 and cell.t == 1 and maxdiff(cell:clone():step(Q[2], K[2], V[2]),
  prefix(Q, K, V)[2]) < 1e-6 and cycle.self == cycle and next(list) == nil and 6 * 7
]]

-- ---- arguments ------------------------------------------------------------------------------

local not_a_tensor = {"nil", "true", "'word'", "{}", "print", "co", "io.stdout", "cell"}
local not_an_operand = {"nil", "true", "'word'", "{}", "print", "co", "raising"}
local not_whole = {"true", "'word'", "print", "co", "1.5", "0/0", "1/0", "1e300"}
local not_a_number = {"true", "'word'", "{}", "print", "co", "T"}
local not_a_path = {"nil", "true", "{}", "print", "co", "T", "'no/such/folder/x.npy'"}
local not_a_function = {"nil", "true", "'word'", "{}", "co", "T", "raising"}

-- How an argument is written in signatures -> {a right one, wrong ones}.
local arguments = {
  t = {"T", not_a_tensor}, q = {"Q", not_a_tensor}, k = {"K", not_a_tensor},
  v = {"V", not_a_tensor}, dout = {"V", not_a_tensor}, mask = {"T", not_a_tensor},
  u = {"T", not_an_operand},
  n = {"2", not_whole}, m = {"2", not_whole}, i = {"1", not_whole}, dim = {"1", not_whole},
  d1 = {"1", not_whole}, d2 = {"2", not_whole},
  x = {"1", not_a_number}, lo = {"1", not_a_number}, hi = {"2", not_a_number},
  path = {"'x.npy'", not_a_path},
  f = {"print", not_a_function},
  list = {"{1}", {"nil", "true", "'word'", "print", "co", "{'x'}", "{1.5}", "{99}"}},
  text = {"'sum'", {"true", "{}", "print", "co"}},
  ["{t1, t2, ..}"] = {"{T, T}", {"nil", "true", "{}", "{1}", "{T, 'x'}", "co", "T"}},
  ["{n, m, ...}"] = {"{2, 2}", {"true", "'word'", "{'x'}", "{-1}", "co", "{1.5}"}},
  ['"prefix"'] = {"'prefix'", {"nil", "'word'", "T", "print", "co"}},
}

-- Arguments that mean something else in these functions.
local special = {
  ["range.a"] = {"1", not_a_number}, ["range.b"] = {"5", not_a_number},
  ["range.step"] = {"1", {"true", "'word'", "print", "co", "T"}}, -- {} has no options
  ["linspace.a"] = {"1", not_a_number}, ["linspace.b"] = {"5", not_a_number},
  ["where.a"] = {"T", not_an_operand}, ["where.b"] = {"T", not_an_operand},
  ["allclose.a"] = {"T", not_an_operand}, ["allclose.b"] = {"T", not_an_operand},
  ["maxdiff.a"] = {"T", not_an_operand}, ["maxdiff.b"] = {"T", not_an_operand},
  ["t:transpose.a"] = {"1", not_whole}, ["t:transpose.b"] = {"2", not_whole},
  ["t:copy.u"] = {"T", not_an_operand}, ["t:mm.u"] = {"T", not_a_tensor},
}

-- Entries whose signature has alternatives: how they are called, the argument as %s, and
-- what it must not be.
local by_hand = {
  tensor = {"tensor(%s)", {"nil", "true", "'word'", "print", "co", "{{1}, 2}", "cycle"}},
  phi = {"phi(%s)", {"nil", "true", "'word'", "{}", "print", "co", "3"}},
  ["t:to"] = {"T:to(%s)", {"nil", "true", "'float'", "{}", "print", "co", "32"}},
  plot = {"plot(%s)", {"nil", "true", "'word'", "co", "{}", "{1, 'x'}", "{{}, {}}", "cell",
    "zeros(0)", "zeros(2, 2, 2)"}},
  rnn = {"rnn(%s)", {"nil", "2", "true", "{D=2}", "{D=-1, M=2}", "{D=2, M=1.5}", "T",
    "{D='2', M=2}", "co"}},
  kv = {"kv(%s)", {"nil", "2", "true", "{D=2}", "{D=-1, M=2}", "{D=2, M=1.5}", "T"}},
  bench = {"bench(%s)", not_a_function},
  time = {"time(%s)", not_a_function},
  profile = {"profile(%s)", not_a_function},
  emu = {"emu(%s)", {"2", "true", "'sm_75'", "{gpu='sm_1'}", "{order=3}", "{order='revesed'}",
    "{check=1}", "{seed=1.5}", "{seed=-1}", "{optoin=1}", "T", "co"}},
  kernel = {"kernel(%s)", {"nil", "2", "true", "{}", "co", "'nosuch.cu', 'f'",
    "'nosuch.cu', 'f', {device=co}", "'nosuch.cu', 'f', {optoin=1}"}},
  apropos = {"apropos(%s)", {"true", "{}", "print", "co", "nil"}},
}

-- Calls that are right whatever they are given.
local takes_anything = {show = true, help = true}

-- ---- making inputs ----------------------------------------------------------------------------

local inputs, expected = {}, {}
local function add(input, speaker)
  inputs[#inputs + 1], expected[#inputs + 1] = input, speaker
end

-- The arguments of "f(a, {b, c}, {opt=})" as written; those in braces with = are options.
local function written_arguments(signature)
  local inside = signature:match("%((.*)%)")
  local rest = inside:gsub("%b{}", function(braces)
    return braces:find("=") and "" or (braces:gsub(",", "\0")) -- of a list, kept together
  end)
  local list = {}
  for argument in rest:gmatch("[^,]+") do
    argument = argument:gsub("%z", ","):match("^%s*(.-)%s*$")
    if argument ~= "" and argument ~= "..." then list[#list + 1] = argument end
  end
  return list
end

local function argument_of(entry, argument)
  return special[entry.key .. "." .. argument] or arguments[argument] or
    error(entry.key .. ": wrong_inputs.lua does not know the argument " .. argument)
end

local function call(entry, list)
  local receiver = entry.key:match("^t:") and "T:" or entry.key:match("^st:") and "cell:" or ""
  local name = receiver == "" and entry.key or entry.name
  return receiver .. name .. "(" .. table.concat(list, ", ") .. ")"
end

local function wrong_arguments(entry, list)
  for i in ipairs(list) do
    for _, value in ipairs(argument_of(entry, list[i])[2]) do
      local given = {}
      for j in ipairs(list) do given[j] = j == i and value or argument_of(entry, list[j])[1] end
      add(call(entry, given), entry.name)
    end
  end
end

local function wrong_options(entry, list)
  local given = {}
  for j in ipairs(list) do given[j] = argument_of(entry, list[j])[1] end
  for _, option in ipairs(signatures.options(entry.signature)) do
    given[#list + 1] = "{" .. option .. "=co}"
    add(call(entry, given), entry.name)
    if signatures.words[option] then
      given[#list + 1] = "{" .. option .. "='wrod'}"
      add(call(entry, given), entry.name)
    end
  end
  given[#list + 1] = "{optoin=1}"
  add(call(entry, given), entry.name)
end

local function wrong_calls(entry)
  local way = by_hand[entry.key]
  if way then
    for _, value in ipairs(way[2]) do add(way[1]:format(value), entry.name) end
  end
  if takes_anything[entry.name] or way or not entry.signature:find("(", 1, true) then return end
  local list = written_arguments(entry.signature)
  wrong_arguments(entry, list)
  if entry.options then wrong_options(entry, list) end
  if entry.key:find("^t:") then
    add("T." .. entry.name .. "()", entry.name)
    add("tarn." .. entry.name .. "({})", entry.name)
  end
end

-- ---- all inputs -------------------------------------------------------------------------------

for _, topic in ipairs(names.topics) do
  if not topic.about and not topic.field then
    for _, entry in ipairs(topic) do wrong_calls(entry) end
  end
end

-- Those written by hand: one a line, what is indented goes on with the line above.
local function read_inputs(path)
  for line in io.lines(path) do
    local more = line:match("^    (.*)")
    if more then
      inputs[#inputs] = inputs[#inputs] .. "\n" .. more
    elseif not line:find("^%-%- ") then
      add(line)
    end
  end
end

local folder = arg[0]:match("^.*/") or ""
read_inputs(folder .. "wrong_inputs.txt")

if arg[1] == "inputs" then
  io.write(setup)
  for i, input in ipairs(inputs) do
    io.write(input, "\nio.stderr:write('=== ", i, "\\n')\n")
  end
  io.write((intact:gsub("\n%s*", " ")), "\n")
  return
end

-- ---- what is claimed of the answers -------------------------------------------------------------

local tap = dofile(folder .. "../lua/tap.lua")

local answers, answer = {}, {}
for line in io.lines(arg[2]) do
  if line:find("^=== %d+$") then
    answers[#answers + 1], answer = answer, {}
  else
    answer[#answer + 1] = line
  end
end

-- Runs a test of each input and the lines of its answer; it gives what is wrong, or nil.
local function each(claim, wrong_with)
  tap.test(claim, function()
    local found = {}
    for i, lines in ipairs(answers) do
      local why = wrong_with(inputs[i], lines, expected[i])
      if why then found[#found + 1] = inputs[i] .. "\n  " .. why end
    end
    if #found > 0 then error(#found .. " answers:\n" .. table.concat(found, "\n"), 0) end
  end)
end

-- The lines of an answer that begin a message: no frames, no notes, no list of a message.
local function messages(lines)
  local found = {}
  for _, line in ipairs(lines) do
    if not line:find("^%s") and not line:find("^note: ") then found[#found + 1] = line end
  end
  return found
end

tap.test("the session survives all " .. #inputs .. " wrong inputs", function()
  tap.is(#answers, #inputs)
  assert(#inputs > 1000)
end)

each("each gives one message", function(_, lines)
  local found = messages(lines)
  if #found ~= 1 then return ("%d messages: %s"):format(#found, table.concat(found, " | ")) end
end)

each("a wrong call of tarn's names its function first", function(_, lines, speaker)
  local message = messages(lines)[1] or ""
  local who = message:match("^([%w_.:]+): ") or ""
  if speaker and who:match("[%w_]+$") ~= speaker then return message end
end)

each("no message shows an address, a C file or what C prints for nothing", function(_, lines)
  for _, line in ipairs(lines) do
    for _, form in ipairs {"0x%x%x%x", "%(null%)", "^%?:", "%-nan", "%.[ch]:%d"} do
      if line:find(form) then return line end
    end
  end
end)

each("the first line is at most 300 signs long", function(_, lines)
  local message = messages(lines)[1] or ""
  if #message > 300 then return message end
end)

tap.done()
