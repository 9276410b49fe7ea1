-- run_compare.lua: what a learner's code gave, beside what was expected.
--
-- A number passes if |got - expected| <= k eps (|expected| + largest |expected| of the result):
-- k is the case's, with its reason; eps is that of the result's type. What is not finite never
-- passes, unless the same is expected.

local compare = {}

local EPS = {float32 = 2.0 ^ -23, float64 = 2.0 ^ -52}
local DEFAULT_K = 64

local function is_tensor(value) return type(value) == "userdata" end

-- Nested tables, or a number, as a flat list of numbers and the shape.
function compare.flatten(value, shape, flat, depth)
  shape, flat, depth = shape or {}, flat or {}, depth or 1
  if is_tensor(value) then
    return compare.flatten(value:rank() == 0 and value:item() or value:totable())
  end
  if type(value) ~= "table" then
    flat[#flat + 1] = value
    return flat, shape
  end
  shape[depth] = #value
  for _, entry in ipairs(value) do compare.flatten(entry, shape, flat, depth + 1) end
  return flat, shape
end

local function count(shape)
  local n = 1
  for _, extent in ipairs(shape) do n = n * extent end
  return n
end

local function shape_text(shape) return "[" .. table.concat(shape, ", ") .. "]" end

-- The index {i, j, ..} of an element by its place in the flat list.
local function index_of(place, shape)
  local index, rest = {}, place - 1
  for d = #shape, 1, -1 do
    index[d] = rest % shape[d] + 1
    rest = rest // shape[d]
  end
  return index
end

function compare.number(x)
  if x ~= x then return "nan" end
  if math.type(x) == "integer" or x == math.floor(x) and math.abs(x) < 1e6 then
    return ("%d"):format(x)
  end
  return ("%.6g"):format(x)
end

-- The digits it takes to tell two numbers apart: 6, or more.
local function digits_of(a, b)
  for _, digits in ipairs {6, 9} do
    local form = "%." .. digits .. "g"
    if form:format(a) ~= form:format(b) then return digits end
  end
  return 17
end

-- Both numbers in words, so that they differ.
local function apart(a, b)
  local digits = digits_of(a, b)
  if digits == 6 then return compare.number(a), compare.number(b) end
  local form = "%." .. digits .. "g"
  return form:format(a), form:format(b)
end

-- The neighbours of an element in its last two dimensions, of both results.
local function neighbours(index, shape, got, expected)
  local near = {rows = {}, columns = {}, got = {}, expected = {}}
  local rank = #shape
  if rank == 0 then return nil end
  local rows, columns = rank > 1 and shape[rank - 1] or 1, shape[rank]
  local row, column = rank > 1 and index[rank - 1] or 1, index[rank]
  local base = 0
  for d = 1, rank - 2 do base = base * shape[d] + index[d] - 1 end
  local function window(at, extent)
    local first = math.max(1, math.min(at - 1, extent - 2))
    return first, math.min(extent, first + 2)
  end
  local top, bottom = window(row, rows)
  local left, right = window(column, columns)
  for c = left, right do near.columns[#near.columns + 1] = c end
  for r = top, bottom do
    local g, e = {}, {}
    for c = left, right do
      local place = (base * rows + r - 1) * columns + c
      g[#g + 1], e[#e + 1] = got[place], expected[place]
    end
    near.rows[#near.rows + 1] = r
    near.got[#near.got + 1], near.expected[#near.expected + 1] = g, e
  end
  return near
end

-- The first place that is wrong, as one reads, and the one that is wrong by most, in units of
-- what is allowed; nil if there is none.
local function wrong_places(got, expected, k, eps)
  local scale = 0
  for _, e in ipairs(expected) do
    if math.abs(e) < math.huge then scale = math.max(scale, math.abs(e)) end
  end
  local first, worst, most = nil, nil, 1
  for i, e in ipairs(expected) do
    local g, allowed = got[i], k * eps * (math.abs(e) + scale)
    local far = g == e and 0 or g ~= g and math.huge or math.abs(g - e) / allowed
    if far ~= far or e ~= e and g == g then far = math.huge end
    if e ~= e and g ~= g then far = 0 end
    if far > 1 then first = first or i end
    if far > most then worst, most = i, far end
  end
  return first, worst
end

local function subscript(name, index)
  return #index > 0 and name .. "[" .. table.concat(index, ", ") .. "]" or name
end

-- Where a number that is not one may come from.
local function special(got)
  if got ~= got then return ": from 0/0, inf - inf, or what nobody has written" end
  if math.abs(got) == math.huge then return ": a division by zero, or an overflow" end
  return ""
end

-- What is said of elements that nobody has written to.
local function about_blanks(name, blanks, all)
  if not blanks then return "" end
  if blanks == all then return name .. " was not written; " end
  return ("%d of the %d elements of %s %s not written; "):format(blanks, all, name,
    blanks == 1 and "was" or "were")
end

-- "; furthest off is out[3, 1]: 9, expected 2".
local function about_worst(name, index, got, expected)
  local said, wanted = apart(got, expected)
  return ("; furthest off is %s: %s, expected %s"):format(subscript(name, index), said, wanted)
end

-- Where numbers have the digits of float and should have those of double.
local function about_precision(got, dtype)
  if not is_tensor(got) or got.dtype ~= "float32" or dtype ~= "float64" then return "" end
  return "; it is float32, the inputs are float64"
end

-- tensors(name, got, expected, opt) -> nil if they agree, else what is wrong: a table with
-- message, result, and of the first wrong place index, got, expected, near.
-- `got` and `expected`: tensors or nested tables; opt: k, dtype, blanks.
function compare.tensors(name, got, expected, opt)
  local wanted, wanted_shape = compare.flatten(expected)
  local flat, shape = {}, is_tensor(got) and got.shape or nil
  if not shape or shape_text(shape) == shape_text(wanted_shape) then
    flat, shape = compare.flatten(got)
  end
  if #flat ~= #wanted or shape_text(shape) ~= shape_text(wanted_shape) then
    return {result = name, message = ("%s has the shape %s, expected %s"):format(name,
      shape_text(shape), shape_text(wanted_shape))}
  end
  assert(#wanted == count(wanted_shape), "the spec's table is not rectangular")
  local place, worst = wrong_places(flat, wanted, opt.k or DEFAULT_K,
    EPS[opt.dtype or "float32"])
  if not place then return nil end
  local index = index_of(place, wanted_shape)
  local g, e = flat[place], wanted[place]
  local near, said, wanted_said = neighbours(index, wanted_shape, flat, wanted), apart(g, e)
  if near then near.digits = digits_of(g, e) end
  local message = ("%s%s is %s, expected %s%s"):format(about_blanks(name, opt.blanks, #flat),
    subscript(name, index), said, wanted_said, opt.blanks and "" or special(g))
  if worst ~= place then
    message = message .. about_worst(name, index_of(worst, wanted_shape), flat[worst],
      wanted[worst])
  end
  return {result = name, index = index, got = g, expected = e, near = near,
    message = message .. about_precision(got, opt.dtype)}
end

-- values(name, got, expected, opt): the same of anything that a learner's Lua may give.
function compare.values(name, got, expected, opt)
  if is_tensor(expected) or type(expected) == "table" or type(expected) == "number" then
    if not is_tensor(got) and type(got) ~= type(expected) and type(got) ~= "table" then
      return {result = name, message = ("%s is %s, expected %s"):format(name,
        got == nil and "nil" or "a " .. type(got),
        type(expected) == "number" and "a number" or "a tensor")}
    end
    return compare.tensors(name, got, expected, opt)
  end
  if got == expected then return nil end
  return {result = name, got = got, expected = expected,
    message = ("%s is %s, expected %s"):format(name, tostring(got), tostring(expected))}
end

return compare
