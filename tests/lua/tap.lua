-- tap.lua: the little that a test in Lua needs. It prints the Test Anything Protocol:
--
--   local tap = dofile(arg[0]:match("^.*/") .. "tap.lua")
--   tap.test("a claim in words", function() assert(1 + 1 == 2) end)
--   tap.done()
--
-- A claim fails if its function raises; the exit status tells whether all held.

local tap = {count = 0, failed = 0}

-- Numbers are the same if equal or both NaN, tables if their entries are.
local function same(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then
    return rawequal(a, b) or type(a) == "number" and type(b) == "number" and
      (a == b or a ~= a and b ~= b)
  end
  for key, value in pairs(a) do
    if not same(value, b[key]) then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return true
end

local function text(value)
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  for i, entry in ipairs(value) do parts[i] = text(entry) end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local function report(ok, claim, why)
  tap.count = tap.count + 1
  print(("%sok %d - %s"):format(ok and "" or "not ", tap.count, claim))
  if ok then return end
  tap.failed = tap.failed + 1
  for line in why:gmatch("[^\n]+") do print("# " .. line) end
end

function tap.test(claim, body)
  local ok, why = xpcall(body, function(why) return debug.traceback(tostring(why), 2) end)
  report(ok, claim, why)
end

-- Counts a claim that this machine or build cannot check.
function tap.skip(claim, reason)
  report(true, claim .. " # SKIP " .. reason)
end

-- Checks that a value, or a tensor by its numbers, is what was expected.
function tap.is(got, expected)
  if type(got) == "userdata" then got = got:totable() end
  if not same(got, expected) then
    error("got " .. text(got) .. ", expected " .. text(expected), 2)
  end
end

-- Checks that a call raises exactly this message.
function tap.raises(message, f, ...)
  local ok, why = pcall(f, ...)
  if ok then error("no error, expected: " .. message, 2) end
  if why ~= message then
    error("the message is: " .. tostring(why) .. "\nexpected: " .. message, 2)
  end
end

function tap.done()
  print("1.." .. tap.count)
  os.exit(tap.failed == 0, true)
end

return tap
