-- progress.lua: what a learner has done, in a plain file in his folder, progress.txt.
--
--   progress.read(folder)        the record of each exercise by its name
--   progress.note(folder, name, change)   changes a record and writes the file; gives the record
--   progress.parse(text), progress.format(records)    the file itself
--
-- One line an exercise, sorted by name, so that two versions of the file merge line by line:
--
--   prefix-loop  passed  10/10  hints=1  seed=1  solution=no  date=2026-11-30
--
-- Where both versions of a line have stayed, the better one counts, with the more hints. Lines
-- that are no such line (of a merge gone wrong, or by hand) are left out when it is written.
-- A record: status "open" | "passed" | "failed", points, max, hints, seed, solution, date.

local files = require "tarn.lab.files"

local progress = {FILE = "progress.txt"}

local date = os.date
local HEAD = "# What tarn-lab knows of this folder: one line an exercise, mergeable.\n"
local MOST_HINTS = 3
local rank = {open = 1, failed = 2, passed = 3}

function progress.new()
  return {status = "open", points = 0, max = 0, hints = 0, solution = false}
end

local function whole(text) return math.tointeger(tonumber(text)) end

-- A line as a name and a record, or nil.
local function parse_line(line)
  local name, status, points, max, rest =
    line:match("^([%l%d-]+)%s+(%l+)%s+([%d.]+)/([%d.]+)(.*)$")
  if not name or not rank[status] then return nil end
  local fields = {}
  for key, value in rest:gmatch("(%l+)=(%S+)") do fields[key] = value end
  return name, {status = status, points = tonumber(points) or 0, max = tonumber(max) or 0,
    hints = math.max(0, math.min(whole(fields.hints) or 0, MOST_HINTS)), seed = whole(fields.seed),
    solution = fields.solution == "yes", date = fields.date}
end

local function better(a, b)
  if rank[a.status] ~= rank[b.status] then return rank[a.status] > rank[b.status] end
  return a.points >= b.points
end

-- Two records of the same exercise as one.
local function merge(a, b)
  local best = better(a, b) and a or b
  best.hints, best.solution = math.max(a.hints, b.hints), a.solution or b.solution
  return best
end

function progress.parse(text)
  local records = {}
  for line in text:gmatch("[^\r\n]+") do
    local name, record = parse_line(line)
    if name then records[name] = records[name] and merge(records[name], record) or record end
  end
  return records
end

local function format_line(name, record)
  return ("%s  %s  %g/%g  hints=%d  seed=%s  solution=%s  date=%s\n"):format(name, record.status,
    record.points, record.max, record.hints, record.seed or "-",
    record.solution and "yes" or "no", record.date or "-")
end

function progress.format(records)
  local names, lines = {}, {HEAD}
  for name in pairs(records) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do lines[#lines + 1] = format_line(name, records[name]) end
  return table.concat(lines)
end

function progress.read(folder)
  local text = files.read(files.join(folder, progress.FILE))
  return text and progress.parse(text) or {}
end

function progress.note(folder, name, change)
  local records = progress.read(folder)
  local record = records[name] or progress.new()
  change(record)
  record.date = date("%Y-%m-%d")
  records[name] = record
  files.write("tarn-lab", files.join(folder, progress.FILE), progress.format(records))
  return record
end

return progress
