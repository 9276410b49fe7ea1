-- files.lua: paths and whole files, for the other modules of the lab.
--
-- Reading gives nil and the reason where there is nothing to read; writing goes beside the
-- target and is renamed, so that the old file is whole until the new one is.

local host = require "tarn.host"
local system = require "tarn.lab.system"

local files = {}

local open, rename = io.open, os.rename

function files.join(folder, name)
  return folder == "" and name or (folder:gsub("(.)/+$", "%1") .. "/" .. name):gsub("^//", "/")
end

-- The last part of a path, whichever way the slashes lean.
function files.base(path) return (path:gsub("[/\\]+$", ""):match("[^/\\]*$")) end

function files.kind(path)
  local stat = system.stat(path)
  return stat and stat.kind
end

function files.is_file(path) return files.kind(path) == "file" end

function files.is_folder(path) return files.kind(path) == "folder" end

-- The names in a folder in the order of their bytes, without those that begin with a dot.
function files.list(path)
  local names, why = system.list(path)
  if not names then return nil, why end
  local seen = {}
  for _, name in ipairs(names) do
    if name:sub(1, 1) ~= "." then seen[#seen + 1] = name end
  end
  table.sort(seen)
  return seen
end

function files.read(path)
  local kind = files.kind(path)
  if kind and kind ~= "file" then return nil, path .. ": it is no file" end
  local file, why = open(path, "rb")
  if not file then return nil, why end
  local text, problem = file:read("a")
  file:close()
  return text, problem
end

-- Writes a file whole or raises "who: ...".
function files.write(who, path, text) host.write(who, path, text) end

-- Makes a folder, and those above it, or raises.
function files.make_folder(who, path)
  local above = path:match("^(.+)/[^/]+/*$")
  if above and not files.is_folder(above) then files.make_folder(who, above) end
  local made, why = system.folder(path)
  if not made then error(("%s: %s: %s"):format(who, path, why), 0) end
end

-- Moves a file out of the way, to the first free name of the kind path.1~, and gives it.
function files.set_aside(who, path)
  local number = 1
  while system.kind(("%s.%d~"):format(path, number)) do number = number + 1 end
  local aside = ("%s.%d~"):format(path, number)
  local moved, why = rename(path, aside)
  if not moved then error(who .. ": " .. why, 0) end
  return aside
end

return files
