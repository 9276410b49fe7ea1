-- entries.lua: checks the entries of a table that someone wrote by hand: manifests, course files.
--
--   entries.check(path, where, table, kinds)   raises "path: where: unknown entry 'titel'; did
--                                              you mean 'title'?" or "...: expected a string"
--   entries.fail(path, format, ...)            raises "path: ..."
--   entries.a("integer")                       "an integer"
--
-- kinds: the name of each entry that may be there, and its type, as type or math.type say it.

local host = require "tarn.host"

local entries = {}

function entries.fail(path, format, ...) error(path .. ": " .. format:format(...), 0) end

function entries.a(kind) return (kind:find("^[aeiou]") and "an " or "a ") .. kind end

local function check_one(path, where, key, value, kind)
  if type(value) == kind or math.type(value) == kind then return end
  entries.fail(path, "%s%s is %s, expected %s", where, key,
    entries.a(math.type(value) or type(value)), entries.a(kind))
end

function entries.check(path, where, given, kinds)
  for key, value in pairs(given) do
    if not kinds[key] then
      local near = type(key) == "string" and host.nearest(key, kinds)
      entries.fail(path, "%sunknown entry '%s'%s", where, tostring(key),
        near and "; did you mean '" .. near .. "'?" or "")
    end
    check_one(path, where, key, value, kinds[key])
  end
end

return entries
