-- files.lua: the folder that a lab writes into. A file appears whole or not at all.
--
--   folder = files.open(program, path)   makes it if need be; fails now if one can't write there
--   folder:write(name, text)             under a temporary name, then renamed
--   folder:keep(name)                    if there is one, renames it: name.1, name.2, ...
--   folder:path(name)
--   files.csv(columns, rows)             RFC 4180: one line of names, CRLF, quotes where needed

local files = {}

local folder = {}
folder.__index = folder

local function quote_for_shell(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

function folder:path(name) return self.place .. "/" .. name end

local function fail(program, path, why)
  error(("%s: can't write %s: %s"):format(program, path, why), 0)
end

-- A system's message without the name of the file, which may be the temporary one.
local function reason(message) return message:match("^.*: (.-)$") or message end

function folder:write(name, text)
  local temporary = self:path(name .. ".tmp")
  local file, why = io.open(temporary, "wb")
  if not file then fail(self.program, self:path(name), reason(why)) end
  local written, closed
  written, why = file:write(text)
  closed, why = file:close(), why
  local renamed = written and closed
  if renamed then renamed, why = os.rename(temporary, self:path(name)) end
  if not renamed then
    os.remove(temporary)
    fail(self.program, self:path(name), why and reason(why) or "the disk may be full")
  end
end

-- What somebody wrote into a report must not be lost when the lab runs once more.
function folder:keep(name)
  local number = 1
  local function is_written(path) -- no folder, and not empty
    local file = io.open(path)
    local some = file and file:read(0)
    return some, file and file:close()
  end
  if not is_written(self:path(name)) then return end
  while is_written(self:path(name .. "." .. number)) do number = number + 1 end
  local kept = name .. "." .. number
  local ok, why = os.rename(self:path(name), self:path(kept))
  if not ok then fail(self.program, self:path(kept), reason(why)) end
  return kept
end

function files.open(program, path)
  local self = setmetatable({program = program, place = path:match("^(.-)/*$")}, folder)
  if self.place == "" then self.place = "/" end
  os.execute("mkdir -p -- " .. quote_for_shell(self.place) .. " 2>/dev/null")
  local probe = self:path("results.csv.tmp")
  local file, why = io.open(probe, "wb")
  if not file then fail(program, path, reason(why)) end
  file:close()
  os.remove(probe)
  return self
end

local function field(value)
  if value == nil then return "" end
  local text = math.type(value) == "float" and ("%.9g"):format(value) or tostring(value)
  if text:find('[",\r\n]') then text = '"' .. text:gsub('"', '""') .. '"' end
  return text
end

function files.csv(columns, rows)
  local lines = {table.concat(columns, ",")}
  for i, row in ipairs(rows) do
    local fields = {}
    for c, name in ipairs(columns) do fields[c] = field(row[name]) end
    lines[i + 1] = table.concat(fields, ",")
  end
  return table.concat(lines, "\r\n") .. "\r\n"
end

return files
