-- signatures.lua: the options in the signatures, and the words options may be, are those
-- that the functions themselves take; what they take they say when asked for another.
local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
local test, is = tap.test, tap.is

local signatures = require "tarn.signatures"
local names = require "tarn.names"

local a = randn(2, 3, {seed = 1})
local calls = {
  sim = {a, a, a}, assoc = {a, a, a}, prefix = {a, a, a}, equiv = {a, a, a},
  sim_grad = {a, a, a, a}, assoc_grad = {a, a, a, a}, prefix_grad = {a, a, a, a},
  rnn_grad = {a, a, a, a}, rnn = {}, kv = {}, bench = {function() end}, show = {1},
  zeros = {1}, ones = {1}, rand = {1}, randn = {1}, full = {{1}, 0}, eye = {1},
  range = {1, 2, 1}, linspace = {1, 2, 2}, tensor = {1}, allclose = {a, a},
}

local function sorted(list)
  table.sort(list)
  return table.concat(list, " ")
end

-- The options a function says it takes when it gets one that it can't know.
local function options_taken(name)
  local arguments = {table.unpack(calls[name])}
  arguments[#arguments + 1] = {qqqqqqqqqqqq = 1}
  local _, message = pcall(tarn[name], table.unpack(arguments))
  local list = message:match("expected one of (.*)$") or message:match("expected (.*)$")
  local found = {}
  for option in list:gmatch("[%w_]+") do
    if option ~= "or" then found[#found + 1] = option end
  end
  return found
end

for name in pairs(calls) do
  test("the options of " .. name .. " are those in its signature", function()
    local signature = names.by_name[name].signature
    is(sorted(signatures.options(signature)), sorted(options_taken(name)))
  end)
end

-- The words a function says an option may be.
local function words_taken(option, name, ...)
  local arguments = {...}
  arguments[#arguments + 1] = {[option] = "qqqqqqqqqqqq"}
  if name == "rnn" then arguments[1].D, arguments[1].M = 1, 1 end
  local _, message = pcall(tarn[name], table.unpack(arguments))
  local found = {}
  local list = message:match("expected one of (.*)$") or message:match("there are (.*)$")
  for word in list:gmatch("[%w_]+") do
    found[#found + 1] = word
  end
  return found
end

test("the words of options are those that the functions take", function()
  for _, option in ipairs {"method", "precision", "impl", "phi"} do
    is(sorted {table.unpack(signatures.words[option])},
      sorted(words_taken(option, "prefix", a, a, a)))
  end
  is(sorted {table.unpack(signatures.words.by)}, sorted(words_taken("by", "sim", a, a, a)))
  is(sorted {table.unpack(signatures.words.dtype)}, sorted(words_taken("dtype", "rnn")))
  for _, form in ipairs(signatures.argument_words.gradcheck) do
    local _, why = pcall(gradcheck, form, a, a, a, {qqqqqqqq = 1})
    assert(why:find("unknown option"), why)
  end
end)

tap.done()
