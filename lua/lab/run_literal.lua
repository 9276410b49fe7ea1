-- run_literal.lua: plain values as the text of a Lua table, for the child to load, and text
-- that comes back from it in one line.

local literal = {}

-- write(value): numbers, strings, booleans and tables of them.
function literal.write(value)
  if type(value) ~= "table" then return ("%q"):format(value) end
  local parts = {}
  for key, entry in pairs(value) do
    parts[#parts + 1] = "[" .. literal.write(key) .. "]=" .. literal.write(entry)
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

function literal.unescape(text)
  return (text:gsub("%%(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end))
end

return literal
