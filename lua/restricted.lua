-- restricted.lua: what --restricted takes away, for code that one does not trust.
--
-- Closed are: files but for tarn's own readers and writers (which stay below the folder the
-- program was started in: see write_below in core/context.h), commands of the system,
-- `debug`, bytecode, modules in C, the environment's variables, and tarn's own insides. What
-- is left of `io` and `os` prints, reads standard input, tells the time and ends the program.
--
-- tarn's own Lua has taken what it needs when it was loaded; the user's has not run yet.

local loadfile, searchpath = loadfile, package.searchpath

local kept = {
  io = {"read", "stderr", "stdin", "stdout", "type", "write"},
  os = {"clock", "date", "difftime", "exit", "time"},
  debug = {"traceback"},
}

-- The table of a library with only some of its functions; the others say why they are gone.
local function reduced(title, library, names)
  local rest = {}
  for _, name in ipairs(names) do rest[name] = library[name] end
  return setmetatable(rest, {__index = function(_, name)
    if library[name] ~= nil then error(title .. "." .. name .. " is closed by --restricted", 0) end
  end})
end

-- Finds modules in Lua below the working folder, as text.
local function search_text(name)
  local path, tried = searchpath(name, "./?.lua;./?/init.lua")
  if not path then return tried end
  local chunk, problem = loadfile(path, "t")
  if not chunk then error(problem, 0) end
  return chunk, path
end

-- Takes everything away; `own` are the functions that the user's environment has of its own.
local function close(own)
  for name, names in pairs(kept) do
    _G[name] = reduced(name, _G[name], names)
    package.loaded[name] = _G[name]
  end
  local stdout = io.stdout
  function io.output() return stdout end
  string.dump = nil
  package.searchers = {package.searchers[1], search_text}
  package.loadlib, package.cpath, package.path = nil, "", "./?.lua;./?/init.lua"
  for name in pairs(package.loaded) do
    if name:find("^tarn%.") then package.loaded[name] = nil end
  end
  for name in pairs(package.preload) do package.preload[name] = nil end
  for _, name in ipairs {"load", "loadfile", "dofile"} do _G[name] = own[name] end
end

return {close = close}
