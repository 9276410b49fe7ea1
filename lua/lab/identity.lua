-- identity.lua: which state of an exercise it was: a number from all its files.
--
-- The hash is FNV-1a in 64 bits: it tells versions apart, and withstands no forger.

local files = require "tarn.lab.files"

local identity = {}

local START, PRIME = 0xcbf29ce484222325, 0x100000001b3

local function add(hash, text)
  for i = 1, #text do hash = (hash ~ text:byte(i)) * PRIME end
  return hash
end

-- Names and texts of all files below a folder, in a fixed order.
local function add_folder(hash, folder, prefix)
  for _, name in ipairs(files.list(folder) or {}) do
    local path = files.join(folder, name)
    if files.is_folder(path) then hash = add_folder(hash, path, prefix .. name .. "/")
    elseif not name:find("~$") then
      hash = add(add(hash, prefix .. name .. "\0"), (files.read(path) or "") .. "\0")
    end
  end
  return hash
end

local known = {}

function identity.of(exercise)
  local folder = exercise.folder
  known[folder] = known[folder] or ("%016x"):format(add_folder(START, folder, ""))
  return known[folder]
end

return identity
