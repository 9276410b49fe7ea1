-- cited.lua FOLDER: which public names no page of the book speaks of, but for the reference and
-- the index, which have all. They go to stderr, one a line; the exit status tells.

local names = require "tarn.names"
local help = require "tarn.help"

local ALL = {["reference.html"] = true, ["register.html"] = true}
local text = {}
for path in io.popen(("ls '%s'/*.html"):format(arg[1])):lines() do
  if not ALL[path:match("[^/]*$")] then
    local page = assert(io.open(path)):read "a"
    text[#text + 1] = page:match("<!%-%- text %-%->(.*)"):gsub("<[^>]*>", "")
  end
end
text = table.concat(text, "\n")

-- Whether a name stands in the text by itself; a method where it is called on anything.
local function is_there(key)
  local word = key:match("^s?t([.:][%w_]+)$") or key
  local before = word:find("^[.:]") and "" or "%f[%w_]"
  return text:find(before .. word:gsub("%p", "%%%0") .. "%f[^%w_]")
end

local missing = 0
local function look(key)
  if is_there(key) then return end
  missing = missing + 1
  io.stderr:write(key, "\n")
end
for _, topic in ipairs(names.topics) do
  for _, e in ipairs(topic) do
    if not topic.about then look(e.key) end
  end
end
for _, map in ipairs(help.maps) do look(map.key) end
for _, e in ipairs(names.in_c) do look(e.key) end
os.exit(missing == 0)
