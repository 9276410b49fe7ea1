-- source.lua: named regions of the sources, which the book shows.
--
--   //> region name        in C and CUDA, on lines of their own, also inside of functions
--   //< region name
--   --> region name        in Lua
--   --< region name
--
--   source.region(path, name)   -> {first =, last =, lines =, inside =, whole =}, or nil, message
--   source.regions(path)        -> names in order, or nil, message
--
-- Lines come without the indent that all share and without markers of regions within.

local chapter = require "chapter"
local setting = require "setting"

local source = {}

local WIDEST = 80
local files = {}

-- ---- functions ------------------------------------------------------------------------------

-- The name of what a head of a definition defines: "Test(phi, is_positive)" is a name as well.
local function name_in(head)
  local test = head:match("^Test%(.-%)")
  return test or head:match("([%w_:.]+)%s*%(")
end

-- A line of a head; what limits a kernel's launch is not its name.
local function head_line(line) return (line:gsub("__launch_bounds__%b()", "")) end

-- Where functions begin and end, in C as clang-format writes them: a brace in column 1.
local function functions_in_c(lines)
  local list, head = {}, nil
  for number, line in ipairs(lines) do
    local open = list[#list]
    if line:find("^{") and head then
      table.insert(list, {name = name_in(head.text), first = head.first})
      head = nil
    elseif line:find("^}") then
      if open and not open.last then open.last = number end
      head = nil
    elseif line == "" or line:find("^[#/*]") or line:find(";%s*$") and not line:find("^%s") then
      head = nil
    elseif line:find("^[%a_]") and not (head and not head.text:find("%(")) then
      head = {text = head_line(line), first = head and head.first or number}
    elseif head and not head.text:find("%(") then
      head.text = head_line(line)
    end
  end
  return list
end

local function functions_in_lua(lines)
  local list = {}
  for number, line in ipairs(lines) do
    local name = line:match("^local%s+function%s+([%w_]+)") or line:match("^function%s+([%w_.:]+)")
      or line:match("^([%w_.]+)%s*=%s*function") or line:match('^test%("([^"]*)", function')
    if name then table.insert(list, {name = name, first = number}) end
    if line:find("^end") and list[#list] and not list[#list].last then list[#list].last = number end
    if name and line:find("end%)?$") then list[#list].last = number end
  end
  return list
end

-- ---- regions --------------------------------------------------------------------------------

-- The sign of a marker and the region that it names: ">" or "<", name.
local function marker(line)
  local comment, sign, name = line:match("^%s*([/-][/-])([<>]) region (%S+)%s*$")
  if comment == "//" or comment == "--" then return sign, name end
end

local function problem(file, number, text, ...)
  file.problem = file.problem or ("%s:%d: " .. text):format(file.path, number, ...)
end

-- One line with a marker: opens or closes a region of the file.
local function take_marker(file, number, sign, name)
  local region = file.regions[name]
  if sign == ">" and region then
    problem(file, number, "region %s begins a second time, first at line %d", name,
      region.first - 1)
  elseif sign == ">" then
    region = {name = name, first = number + 1}
    file.regions[name] = region
    table.insert(file.order, name)
  elseif not region or region.last then
    problem(file, number, "region %s ends here and did not begin", name)
  else
    region.last = number - 1
  end
end

local function read_file(path)
  local text = chapter.read(setting.root .. "/" .. path)
  if not text then return nil end
  local file = {path = path, lines = {}, regions = {}, order = {}}
  for line in text:gsub("\n?$", "\n", 1):gmatch("(.-)\n") do table.insert(file.lines, line) end
  for number, line in ipairs(file.lines) do
    local sign, name = marker(line)
    if sign then take_marker(file, number, sign, name) end
  end
  for _, name in ipairs(file.order) do
    local region = file.regions[name]
    if not region.last then problem(file, region.first - 1, "region %s is not closed", name) end
  end
  return file
end

local function open(path)
  if files[path] == nil then files[path] = read_file(path) or false end
  return files[path] or nil
end

-- The text of a region, without markers and without the indent that its lines share.
local function shown_lines(file, region)
  local lines, indent = {}, nil
  for number = region.first, region.last do
    local line = file.lines[number]
    if not marker(line) then
      table.insert(lines, line)
      local blanks = line:match("^ *%S") and line:match("^ *")
      if blanks and (not indent or #blanks < #indent) then indent = blanks end
    end
  end
  for i, line in ipairs(lines) do lines[i] = line:sub(#(indent or "") + 1) end
  while lines[1] == "" do table.remove(lines, 1) end
  while lines[#lines] == "" do table.remove(lines) end
  return lines
end

-- The function that a region is inside of, or that it is the whole of.
local function place(file, region)
  file.functions = file.functions or
    (file.path:find("%.lua$") and functions_in_lua or functions_in_c)(file.lines)
  region.whole = {}
  for _, f in ipairs(file.functions) do
    local last = f.last or #file.lines
    if f.first < region.first and region.last <= last then region.inside = f.name end
    if region.first <= f.first and last <= region.last then table.insert(region.whole, f.name) end
  end
end

-- What is wrong with a region as it would be shown.
local function problem_of(path, region, lines)
  if #lines == 0 then
    return ("%s:%d: region %s is empty"):format(path, region.first, region.name)
  end
  for i, line in ipairs(lines) do
    local width = utf8.len(line) or #line
    if width > WIDEST then
      return ("%s: line %d of region %s has %d columns, at most %d fit: %s"):format(path, i,
        region.name, width, WIDEST, line:match("^%s*(.*)"))
    end
  end
end

function source.region(path, name)
  local file = open(path)
  if not file then return nil, "there is no file " .. path end
  if file.problem then return nil, file.problem end
  local region = file.regions[name]
  if not region then
    local there = table.concat(file.order, ", ")
    return nil, ("%s has no region %s; it has: %s"):format(path, name, there)
  end
  region.lines = shown_lines(file, region)
  local message = problem_of(path, region, region.lines)
  if message then return nil, message end
  place(file, region)
  return region
end

function source.regions(path)
  local file = open(path)
  if not file then return nil, "there is no file " .. path end
  return not file.problem and file.order or nil, file.problem
end

return source
