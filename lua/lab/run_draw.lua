-- run_draw.lua: random inputs of an exercise's cases, the same again from the same seed.

local tarn = require "tarn"

local draw = {}

-- One step of splitmix64.
local function mix(x)
  x = x + 0x9e3779b97f4a7c15
  x = (x ~ (x >> 30)) * 0xbf58476d1ce4e5b9
  x = (x ~ (x >> 27)) * 0x94d049bb133111eb
  return x ~ (x >> 31)
end

-- A number that depends on a seed and a text.
function draw.seed_of(seed, text)
  local x = mix(seed)
  for i = 1, #text do x = mix(x ~ text:byte(i)) end
  return x
end

-- from(seed) -> a table of functions that draw one thing after the other:
--   randn(extents...), rand(extents...)   tensors, as of tarn's functions of these names
--   double.randn, double.rand             the same in float64, with the digits of float64
--   int(a, b)                             a whole number, both ends included
--   real(a, b)                            a number between
--   pick(list)                            one of a list
--   permutation(n)                        1 .. n in another order
function draw.from(seed)
  local state, from = seed, {}
  local function bits()
    state = state + 0x9e3779b97f4a7c15
    return mix(state)
  end
  local function tensors(dtype)
    local function tensor(make, ...)
      local arguments = {...}
      arguments[#arguments + 1] = {seed = bits() >> 1, dtype = dtype}
      return make(table.unpack(arguments))
    end
    return function(...) return tensor(tarn.randn, ...) end,
      function(...) return tensor(tarn.rand, ...) end
  end
  from.randn, from.rand = tensors("float32")
  from.double = {}
  from.double.randn, from.double.rand = tensors("float64")
  function from.int(a, b) return a + (bits() >> 1) % (b - a + 1) end
  function from.real(a, b) return a + (b - a) * (bits() >> 11) * 2.0 ^ -53 end
  function from.pick(list) return list[from.int(1, #list)] end
  function from.permutation(n)
    local order = {}
    for i = 1, n do order[i] = i end
    for i = n, 2, -1 do
      local j = from.int(1, i)
      order[i], order[j] = order[j], order[i]
    end
    return order
  end
  return from
end

return draw
