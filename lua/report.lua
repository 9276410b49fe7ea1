-- report.lua: how reports and lists look. C gives plain tables; here they get a
-- __tostring, and what lays out tables of text for the other modules.
--
--   equiv, gradcheck   reports, one line a row, and the worst entry of rows that failed
--   phis, backends     lists

local tarn = require "tarn"
local host = require "tarn.host"
local entry = require "tarn.entry"

local report = {}

local WIDE = 76 -- columns that the tables of feature maps and backends take

-- Numbers -------------------------------------------------------------------------------

-- A duration in three digits, "-" where output must not change from run to run.
function report.duration(seconds)
  if tarn.quiet_times then return "-" end
  if seconds < 1e-6 then return ("%.0f ns"):format(seconds * 1e9) end
  if seconds < 1e-3 then return ("%.1f %s"):format(seconds * 1e6, host.utf8 and "µs" or "us") end
  if seconds < 1 then return ("%.1f ms"):format(seconds * 1e3) end
  return ("%.2f s"):format(seconds)
end

-- An error or a bound: its order is what counts.
function report.error(x)
  if x ~= x then return "nan" end
  if x == 0 then return "0" end
  return ("%.1e"):format(x)
end

-- A count in groups of three digits.
function report.count(n)
  local digits = ("%.0f"):format(n)
  local grouped = digits:reverse():gsub("(%d%d%d)", "%1,"):reverse()
  return (grouped:gsub("^,", ""))
end

-- Columns -------------------------------------------------------------------------------

local function width(text) return utf8.len(text) or #text end

local function pad(text, columns, right)
  local space = (" "):rep(columns - width(text))
  return right and space .. text or text .. space
end

-- The width of each column, heads included.
local function widths_of(heads, lines)
  local widths = {}
  for c, head in ipairs(heads) do
    widths[c] = width((head:gsub("^>", "")))
    for _, line in ipairs(lines) do widths[c] = math.max(widths[c], width(line[c])) end
  end
  return widths
end

-- Which columns are left out, of those that may be, until the others fit the window; their
-- names; and the blanks between the others.
local function left_out(heads, widths, spare)
  local total, out, names = -2, {}, {}
  for _, columns in ipairs(widths) do total = total + columns + 2 end
  for _, head in ipairs(spare) do
    for c in ipairs(heads) do
      if heads[c]:gsub("^>", "") == head and total > host.columns() then
        total, out[c], names[#names + 1] = total - widths[c] - 2, true, head
      end
    end
  end
  return out, names, total > host.columns() and " " or "  "
end

-- Lays lines of cells out below a line of heads. A head that starts with ">" asks for its
-- column to stand on the right. In a narrow window columns of `spare`, a list of heads, are
-- left out, the first of them first; gives their names too.
function report.layout(heads, lines, spare)
  local widths = widths_of(heads, lines)
  local out, names, gap = left_out(heads, widths, spare or {})
  local text = {}
  local function add(cells)
    local padded = {}
    for c, cell in ipairs(cells) do
      if not out[c] then
        local right = heads[c]:sub(1, 1) == ">"
        padded[#padded + 1] = pad(cell, widths[c], right)
      end
    end
    text[#text + 1] = (table.concat(padded, gap):gsub("%s+$", ""))
  end
  local titles = {}
  for c, head in ipairs(heads) do titles[c] = head:gsub("^>", "") end
  add(titles)
  for _, line in ipairs(lines) do add(line) end
  return table.concat(text, "\n"), names
end

-- Reports -------------------------------------------------------------------------------

-- What may be the same in every row, and then stands once in the title.
local shared = {"impl", "device", "dtype", "what"}

local function constant(rows, field)
  for _, row in ipairs(rows) do
    if row[field] ~= rows[1][field] then return false end
  end
  return true
end

local function mark(ok)
  if ok then return "=" end
  return host.utf8 and "≠" or "!="
end

local function title(name, rows, bad, common)
  local parts = {}
  for _, field in ipairs(shared) do
    if common[field] then parts[#parts + 1] = rows[1][field] end
  end
  local verdict = bad == 0 and "all within their bounds" or
    ("%d of %d beyond their bounds"):format(bad, #rows)
  local line = ("%s: %d rows, %s"):format(name, #rows, verdict)
  if #parts > 0 then line = line .. " (" .. table.concat(parts, ", ") .. ")" end
  return line
end

local function line_of(row, common)
  local line = {row.form}
  for _, field in ipairs(shared) do
    if not common[field] then line[#line + 1] = row[field] end
  end
  for _, cell in ipairs {
    report.error(row.max_abs), report.error(row.max_rel), mark(row.ok), report.error(row.tol),
    report.duration(row.seconds), row.state_bytes > 0 and report.count(row.state_bytes) or "-",
  } do
    line[#line + 1] = cell
  end
  return line
end

local function worst(row)
  return ("%s %s %s, %s[%s]: got %.9g, expected %.9g"):format(row.form, row.impl, row.dtype,
    row.what, table.concat(row.worst.index, ", "), row.worst.got, row.worst.expected)
end

local function report_text(self)
  local rows, common, lines, bad = self.rows, {}, {}, {}
  if #rows == 0 then return self.name .. ": no rows" end
  for _, field in ipairs(shared) do common[field] = constant(rows, field) end
  for i, row in ipairs(rows) do
    lines[i] = line_of(row, common)
    if not row.ok then bad[#bad + 1] = worst(row) end
  end
  local heads = {"form"}
  for _, field in ipairs(shared) do
    if not common[field] then heads[#heads + 1] = field end
  end
  for _, head in ipairs {">max_abs", ">max_rel", "", ">bound", ">time", ">state bytes"} do
    heads[#heads + 1] = head
  end
  local layout, missing = report.layout(heads, lines, {"max_abs", "state bytes", "time", "bound",
    "max_rel"})
  local text = {}
  entry.wrap(text, title(self.name, rows, #bad, common), "", "  ")
  text[#text + 1] = layout
  if #missing > 0 then
    entry.wrap(text, "no room for " .. table.concat(missing, ", ") .. "; .rows has them", "", "  ")
  end
  for _, row in ipairs(bad) do entry.wrap(text, "worst: " .. row, "", "  ") end
  return table.concat(text, "\n")
end

local class = {__tostring = report_text, __name = "report"}

for _, name in ipairs {"equiv", "gradcheck"} do
  local compare = tarn[name]
  tarn[name] = function(...)
    local result = compare(...)
    result.name = name
    return setmetatable(result, class)
  end
end

-- Lists ---------------------------------------------------------------------------------

local map_class = {
  __tostring = function(map)
    return ("%s: phi(x) = %s; derivative %s; C = %s; %s"):format(map.name, map.equation,
      map.derivative, map.width, map.positivity)
  end,
}
local maps_class = {
  __tostring = function(maps)
    local lines = {}
    if host.columns() < WIDE then
      for _, map in ipairs(maps) do entry.wrap(lines, tostring(map), "", "  ") end
      return table.concat(lines, "\n")
    end
    for i, map in ipairs(maps) do
      lines[3 * i - 2] = {map.name, map.width, "phi(x)", map.equation}
      lines[3 * i - 1] = {"", "", "derivative", map.derivative}
      lines[3 * i] = {"", "", "sign", map.positivity}
    end
    return report.layout({"name", "width C", "", ""}, lines)
  end,
}

local phis = tarn.phis
function tarn.phis()
  local maps = phis()
  for _, map in ipairs(maps) do setmetatable(map, map_class) end
  return setmetatable(maps, maps_class)
end

local function backend_text(b)
  local state = b.usable and "usable" or "not usable: " .. b.why
  local isa = b.isa == "" and "" or b.isa .. ", "
  return ("%s: %s, %s%s"):format(b.name, b.device, isa, state)
end

local backends_class = {
  __tostring = function(list)
    local lines = {}
    if host.columns() < WIDE then
      for _, b in ipairs(list) do entry.wrap(lines, backend_text(b), "", "  ") end
      return table.concat(lines, "\n")
    end
    for i, b in ipairs(list) do
      lines[i] = {b.name, b.device, b.isa, b.compiled and "yes" or "no",
        b.usable and "yes" or "no", b.why}
    end
    return (report.layout({"name", "device", "isa", "compiled", "usable", "why not"}, lines))
  end,
}

local backends = tarn.backends
-- help: backends() -> table
-- Lists the implementations of the stages: device, isa (the instruction set in use, which
-- TARN_ISA in the environment chooses), compiled, usable, and why not.
-- shapes: none
-- math: none  cost: O(1)
-- errors: none
-- example:
--   > backends()[1].name
--   "fast"
-- see: equiv, t.device
function tarn.backends() return setmetatable(backends(), backends_class) end

return report
