-- show.lua: how values look: at the prompt, in show(x) and, for tensors, in print.
--
--   - Strings are quoted, tables are shown sorted, to a depth and a number of entries, and
--     a table inside itself does not loop; no metamethod but __tostring and __name is used.
--   - Public functions are shown by how they are called.
--   - Tensors: see lua/tensors.lua, which draws them.

local tarn = require "tarn"
local host = require "tarn.host"
local names = require "tarn.names"
local tensors = require "tarn.tensors"

local show = {}

local getinfo, getmetatable_of, io_type = debug.getinfo, debug.getmetatable, io.type

local MAX_DEPTH, MAX_ENTRIES, MAX_NESTED_STRING = 4, 40, 60
local MAX_PACKED = 24 -- letters of an entry that shares its line with others

local ellipsis = host.utf8 and "…" or "..."

-- ---- strings, numbers, functions ------------------------------------------------------

local escapes = {["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ["\0"] = "\\0",
  ['"'] = '\\"', ["\\"] = "\\\\", ["\27"] = "\\27"}

-- A string as one writes it in Lua; what the terminal can't show becomes \ddd.
local function quote(text, limit)
  local cut = limit and #text > limit
  if cut then text = text:sub(1, (utf8.offset(text, 0, limit + 1) or limit + 1) - 1) end
  local pattern = host.utf8 and utf8.len(text) and "[%c\"\\]" or "[%c\"\\\128-\255]"
  text = text:gsub(pattern, function(c) return escapes[c] or ("\\%03d"):format(c:byte()) end)
  return '"' .. text .. '"' .. (cut and ellipsis or "")
end

local function number(x)
  if x ~= x then return "nan" end -- Lua says -nan for some
  return tostring(x)
end

-- The names of Lua's own functions, "string.format".
local library = {}
show.library = library
for module, members in pairs(package.loaded) do
  if type(members) == "table" and not module:find("^tarn") then
    for name, value in pairs(members) do
      if type(value) == "function" then
        library[value] = module == "_G" and name or library[value] or module .. "." .. name
      end
    end
  end
end

for _, module in ipairs {"phi", "rnn"} do
  for name, value in next, tarn[module] do
    if type(value) == "function" then library[value] = module .. "." .. name end
  end
end

getmetatable_of(tarn.rnn).__tostring = function()
  return "function " .. names.by_key.rnn.signature
end

-- Options are a long list: inside of tables they are left out.
local function call_of(entry, nested)
  return nested and entry.signature:gsub("{[^{}]*=.-}", "{" .. ellipsis .. "}") or entry.signature
end

local function describe_function(f, nested)
  for _, entry in pairs(names.by_name) do
    if rawget(tarn, entry.name) == f then return "function " .. call_of(entry, nested) end
  end
  if library[f] then return "function " .. library[f] end
  local info = getinfo(f, "S")
  if info.what == "C" then return "function (in C)" end
  return ("function (%s:%d)"):format(info.short_src, info.linedefined)
end

-- ---- tables ---------------------------------------------------------------------------

-- Numbers first, then strings, then the rest by what they look like.
local rank_of = {number = 1, string = 2, boolean = 3}
local function key_before(a, b)
  local ta, tb = type(a), type(b)
  if ta ~= tb then return (rank_of[ta] or 4) .. ta < (rank_of[tb] or 4) .. tb end
  if ta == "number" or ta == "string" then return a < b end
  return tostring(a) < tostring(b)
end

local render

local function render_key(key)
  if type(key) == "string" and key:find("^[%a_][%w_]*$") then return key .. " = " end
  return "[" .. render(key, {depth = MAX_DEPTH}) .. "] = "
end

-- The entries of a table as strings: the list without keys, the rest with them.
local function entries_of(t, state)
  local parts, keys, length = {}, {}, 0
  while rawget(t, length + 1) ~= nil do length = length + 1 end
  for key in next, t do
    local in_list = math.type(key) == "integer" and key >= 1 and key <= length
    if not in_list then keys[#keys + 1] = key end
  end
  table.sort(keys, key_before)
  local total = length + #keys
  local shown = math.min(total, state.full and total or MAX_ENTRIES)
  for i = 1, shown do
    local key = i > length and keys[i - length] or nil
    local value = i <= length and rawget(t, i) or nil
    if key ~= nil then value = rawget(t, key) end
    parts[i] = (key ~= nil and render_key(key) or "") .. render(value, state)
  end
  if shown < total then parts[shown + 1] = ("%s (%d more)"):format(ellipsis, total - shown) end
  return parts, #keys == 0
end

-- Text indented by two more columns than it was.
local function indent(text) return (text:gsub("\n", "\n  ")) end

local function fits_one_line(parts, depth)
  local width = 2 * depth + 4
  for _, part in ipairs(parts) do
    if part:find("\n", 1, true) then return false end
    width = width + (utf8.len(part) or #part) + 2
  end
  return width <= host.columns()
end

-- Puts as many short entries on a line as fit.
local function pack(parts, depth)
  local lines, line = {}, ""
  for i, part in ipairs(parts) do
    if i < #parts then part = part .. "," end
    if #part > MAX_PACKED or part:find("\n", 1, true) then return parts, ",\n" end
    if line ~= "" and #line + #part + 2 * depth + 4 > host.columns() then
      lines[#lines + 1], line = line, ""
    end
    line = line == "" and part or line .. " " .. part
  end
  lines[#lines + 1] = line
  return lines, "\n"
end

local function render_table(t, state)
  if state.path[t] then return "{" .. ellipsis .. " itself}" end
  if next(t) == nil then return "{}" end
  if state.depth >= MAX_DEPTH and not state.full then return "{" .. ellipsis .. "}" end
  state.path[t] = true
  state.depth = state.depth + 1
  local parts, is_list = entries_of(t, state)
  state.depth = state.depth - 1
  state.path[t] = nil
  if fits_one_line(parts, state.depth) then return "{" .. table.concat(parts, ", ") .. "}" end
  local separator = ",\n"
  if is_list then parts, separator = pack(parts, state.depth) end
  for i, part in ipairs(parts) do parts[i] = "  " .. indent(part) end
  return "{\n" .. table.concat(parts, separator) .. "\n}"
end

-- ---- any value ------------------------------------------------------------------------

function show.is_tensor(value)
  return type(value) == "userdata" and getmetatable(value) == host.tensor_metatable
end

-- What a value's own __tostring says, if it has one.
local function own_words(value)
  if io_type(value) then return io_type(value) end -- Lua's words hold an address
  local meta = getmetatable_of(value)
  if type(meta) == "table" and rawget(meta, "__tostring") then return tostring(value) end
end

-- The text of a value; `state` is where we are in nested tables.
function render(value, state)
  local kind = type(value)
  local nested = state.depth > 0
  if kind == "string" then return quote(value, nested and not state.full and MAX_NESTED_STRING) end
  if kind == "number" then return number(value) end
  if kind == "function" then return describe_function(value, nested) end
  if show.is_tensor(value) then
    return nested and tensors.head(value) or tensors.render(value, state)
  end
  local text = (kind == "table" or kind == "userdata") and own_words(value)
  if text then return text end
  if kind == "table" then return render_table(value, state) end
  if kind == "thread" then return "coroutine (" .. coroutine.status(value) .. ")" end
  if kind == "userdata" then return "userdata" end
  return tostring(value)
end

local function fresh_state(opt)
  return {depth = 0, path = {}, full = opt and opt.full, digits = opt and opt.digits,
    color = opt and opt.color}
end

function show.text(value, opt) return render(value, fresh_state(opt)) end

-- One line about a value, and the bytes that a tensor's elements take.
function show.summary(value)
  if show.is_tensor(value) then
    return tensors.head(value), value:numel() * (value.dtype == "float64" and 8 or 4)
  end
  local text = show.text(value)
  local limit = math.max(20, host.columns() - 20)
  local line = text:match("^[^\n]*")
  if line ~= text or (utf8.len(line) or #line) > limit then
    line = line:sub(1, (utf8.offset(line, limit) or limit) - 1) .. ellipsis
  end
  return line
end

-- The values of one input: on one line if each of them takes only one, as print does.
function show.print_results(...)
  local texts, one_line = {}, true
  for i = 1, select("#", ...) do
    texts[i] = show.text((select(i, ...)), {color = host.color})
    if texts[i]:find("\n", 1, true) then one_line = false end
  end
  io.stdout:write(table.concat(texts, one_line and "\t" or "\n"), "\n")
end

-- ---- show(x, {digits =, full =}) --------------------------------------------------------

local function check_options(opt)
  if opt == nil then return {color = host.color} end
  if type(opt) ~= "table" then
    error("show: options are a " .. type(opt) .. ", expected a table {digits=, full=}", 0)
  end
  local known = {digits = true, full = true}
  for name in next, opt do
    if not known[name] then
      local meant = type(name) == "string" and host.nearest(name, known)
      error(("show: unknown option '%s'%s"):format(tostring(name),
        meant and "; did you mean '" .. meant .. "'?" or ", expected digits or full"), 0)
    end
  end
  local digits = opt.digits
  if digits ~= nil and (math.type(digits) ~= "integer" or digits < 0 or digits > 17) then
    error(("show: digits is %s, expected a whole number from 0 to 17")
      :format(show.text(digits)), 0)
  end
  return {digits = digits, full = opt.full, color = host.color}
end

-- help: show(x, {digits=4, full=false})
-- Shows a value as the prompt does; tensors with so many digits, or nothing left out.
-- shapes: any
-- math: numbers as they are, never scaled  cost: that of what is shown; of all if full
-- errors: digits that is no whole number from 0 to 17
-- options: digits  after the point, at most; unless given, no more than the numbers need
--          full    true: all elements and entries, however many
-- example:
--   > show(tensor{1/3, 2/3}, {digits=6})
--   tensor [2] float32 cpu
--     0.333333  0.666667
-- see: who, t:totable
function tarn.show(value, opt)
  local text = show.text(value, check_options(opt))
  io.write(text, "\n")
end

host.tensor_metatable.__tostring = function(t) return tensors.render(t, {}) end

return show
