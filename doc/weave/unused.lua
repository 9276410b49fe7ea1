-- unused.lua: regions of the sources that no chapter shows stop the build of a whole book.

local setting = require "setting"
local source = require "source"

local unused = {}

local FOLDERS = {"src", "cuda", "lua", "emu", "tests", "exercises/labs"}
local NOT_IN = "^tests/book/" -- planted mistakes

local COMMAND = "cd '%s' && grep -rlE '^ *(//|--)> region ' %s 2>/dev/null"

local function files_with_regions()
  local list = {}
  local pipe = assert(io.popen(COMMAND:format(setting.root, table.concat(FOLDERS, " "))))
  for path in pipe:lines() do
    if not path:find(NOT_IN) then table.insert(list, path) end
  end
  pipe:close()
  table.sort(list)
  return list
end

-- Regions that are in no chapter, as "path: name, name".
function unused.find(pages)
  local used, list = {}, {}
  for _, page in ipairs(pages) do
    for _, region in ipairs(page.regions) do used[region] = true end
  end
  for _, path in ipairs(files_with_regions()) do
    local names, message = source.regions(path)
    if not names then table.insert(list, message) end
    for _, name in ipairs(names or {}) do
      if not used[path .. ":" .. name] then
        table.insert(list, ("%s: region %s is in no chapter"):format(path, name))
      end
    end
  end
  return list
end

function unused.check(pages)
  local list = unused.find(pages)
  if #list == 0 then return end
  io.stderr:write(table.concat(list, "\n"), "\n")
  if not setting.draft then os.exit(1) end
end

return unused
