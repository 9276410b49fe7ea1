# repl_modules.sh: modules that others wrote in the ways people write them: class libraries,
# guards of their own for globals, modules that put names into _G.
. "$srcdir/tests/cli/tap.sh"
test -n "$TARN" || { skip "modules" "built without Lua"; finish; exit; }
cd "$SCRATCH" || exit

# runs SCRIPT: true if it succeeds; prompted: the same, each line an input of the prompt.
runs() { "$TARN" "$1" </dev/null; }
prompted() { "$TARN" -i --no-init --no-history <"$1"; }

cat >class.lua <<'END'
-- Classes with inheritance by copying, static members and metamethods, as libraries do it.
local function new_class(name, super)
  local methods = {}
  methods.__index = methods
  local static = {}
  static.new = function(_, ...)
    local object = setmetatable({}, methods)
    if object.init then object:init(...) end
    return object
  end
  static.subclass = function(_, other)
    local class = new_class(other, static)
    for key, value in pairs(methods) do
      if key ~= "__index" then class[key] = value end
    end
    return class
  end
  return setmetatable({name = name, super = super}, {
    __index = function(_, key)
      if static[key] ~= nil then return static[key] end
      return rawget(methods, key)
    end,
    __newindex = function(_, key, value) methods[key] = value end,
    __call = function(self, ...) return self:new(...) end,
    __tostring = function() return "class " .. name end,
  })
end
return setmetatable({}, {__call = function(_, name) return new_class(name) end})
END
cat >classes.lua <<'END'
class = require "class"
Layer = class("Layer")
function Layer:init(width) self.weights = ones(width, width) end
function Layer:apply(x) return x:mm(self.weights) end
Layer.__add = function(a, b) return a.weights + b.weights end
Linear = Layer:subclass("Linear")
assert(Linear(3):apply(ones(2, 3)):sum() == 18)
assert((Linear(2) + Layer(2)):sum() == 8 and tostring(Linear) == "class Linear")
END
check "a class library serves scripts" runs classes.lua
check "and the prompt" prompted classes.lua

cat >strict.lua <<'END'
-- A guard as Lua's own strict.lua: the metatable of _G asks who assigns and who reads.
local meta = getmetatable(_G) or {}
local declared = {}
function meta.__newindex(t, name, value)
  local caller = debug.getinfo(2, "S").what
  if not declared[name] and caller ~= "main" and caller ~= "C" then
    error("assign to undeclared variable '" .. name .. "'", 2)
  end
  declared[name] = true
  rawset(t, name, value)
end
function meta.__index(_, name)
  if not declared[name] then error("variable '" .. name .. "' is not declared", 2) end
end
setmetatable(_G, meta)
END
cat >guarded.lua <<'END'
require "strict"
a = 1
assert(a == 1 and zeros(2):sum() == 0)
ok, why = pcall(function() return nosuch end)
assert(not ok and why == "variable 'nosuch' is not declared")
ok, why = pcall(function() made = 1 end)
assert(not ok and why:find("undefined variable 'made' is assigned inside a function", 1, true))
END
check "a guard of the user's own stands beside that of tarn" runs guarded.lua
check "also at the prompt" prompted guarded.lua

cat >definer.lua <<'END'
-- Defines globals the old way, and fills in what an older Lua had.
if not unpack then unpack = table.unpack end
if not setfenv then _G.has_setfenv = false end
function helper(t) return t:sum() end
local _ENV = {assert = assert}
inner = 1
END
cat >defined.lua <<'END'
require "definer"
assert(unpack {7} == 7 and has_setfenv == false and helper(ones(3)) == 3)
assert(not pcall(function() return inner end))
do local _ENV = {y = 5}; x = y end
assert(not pcall(function() return x end))
END
check "globals of a module are there for the script" runs defined.lua
check "and for the prompt" prompted defined.lua

cat >unfinished.lua <<'END'
return {
END
broken() { "$TARN" -e 'require "unfinished"' 2>err; test $? = 1 && grep -q 'unfinished.lua:' err; }
check "a module that is no Lua is named with its file" broken
finish
