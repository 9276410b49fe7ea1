-- paste.lua: what a region of the library's own sources earns as an answer to an exercise.
--
--   paste.points(exercise, {region = "src/stages/prefix.c:prefix_naive", file = "paste/x.c"})
--      the points of that file, or nil and why it is no such region
--
-- The file is the region with the glue that a learner would put around it; what the library's
-- helpers do may be written out. So it is compared by the words it uses: of those of the region
-- some must be in it, which a file of another origin would fail. Where the sources are not at
-- hand (an installed tarn) that is taken on trust.

local run = require "tarn.lab.run"
local files = require "tarn.lab.files"
local system = require "tarn.lab.system"

local paste = {}

local ENOUGH = 0.25 -- of a region's words must be in the file

-- The text of a region, or nil.
local function region_of(text, name)
  local lines
  for line in (text .. "\n"):gmatch("(.-)\n") do
    local sign, region = line:match("^%s*[/-][/-]([<>]) region ([%w_%-]+)%s*$")
    if region == name then
      if sign == "<" then return lines and table.concat(lines, "\n") end
      lines = {}
    elseif lines then
      lines[#lines + 1] = line
    end
  end
end

-- The words of a text without its comments.
local function words_of(text)
  local words = {}
  text = text:gsub("/%*.-%*/", " "):gsub("//[^\n]*", " ")
  for word in text:gmatch("[%a_][%w_]*") do words[word] = true end
  return words
end

local function share(region, text)
  local there, found, count = words_of(text), 0, 0
  for word in pairs(words_of(region)) do
    count = count + 1
    if there[word] then found = found + 1 end
  end
  return count > 0 and found / count or 0
end

-- Nil if the file is that region, else why not.
local function problem_of(one, text)
  local path, name = tostring(one.region):match("^([^:]+):([%w_%-]+)$")
  if not path then return ("region is '%s', expected path:name"):format(tostring(one.region)) end
  local source = files.read(files.join(system.source:match("^(.*)/"), path))
  if not source then return nil end
  local region = region_of(source, name)
  if not region then return ("there is no region '%s' in %s"):format(name, path) end
  if share(region, text) < ENOUGH then
    return ("%s has too few words of the region %s"):format(one.file, one.region)
  end
end

function paste.points(exercise, one)
  local path = files.join(exercise.folder, tostring(one.file))
  local text, why = files.read(path)
  if not text then return nil, why end
  local problem = problem_of(one, text)
  if problem then return nil, problem end
  local result = run.check(exercise, path, {})
  if result.problem then return nil, one.file .. ": " .. result.problem end
  return result.points
end

return paste
