-- chapter.lua: the file that is being woven, and what is wrong with it.
--
--   chapter.open(path)         reads it; its number is in its name (04-prefix-sum.md)
--   chapter.where(text)        the line in which a piece of it stands
--   chapter.complain(text, message)   a problem at that place; all are told by chapter.finish()
--   chapter.section            the anchor of the heading that we are below

local chapter = {problems = {}}

function chapter.read(path)
  local file, message = io.open(path, "rb")
  if not file then return nil, message end
  local text = file:read "a"
  file:close()
  return text
end

function chapter.open(path)
  chapter.path = path
  chapter.name = path:match("([^/]*)%.md$") or path
  chapter.page = chapter.name .. ".html"
  chapter.number = tonumber(chapter.name:match("^(%d+)%-"))
  chapter.lines = {}
  for line in ((chapter.read(path) or "") .. "\n"):gmatch("(.-)\n") do
    table.insert(chapter.lines, line)
  end
end

-- The first line that has the text, or the first words of it if it goes over several.
function chapter.where(text)
  local first = text:match("^%s*([^\n]*)")
  for number, line in ipairs(chapter.lines) do
    if line:find(first, 1, true) then return number end
  end
  return 1
end

-- The path as one sees it from the root of the sources.
local function shown(path)
  local root = require("setting").root
  return path:sub(1, #root + 1) == root .. "/" and path:sub(#root + 2) or path
end

-- A problem at a line of the chapter, or at the place of a piece of its text.
function chapter.complain(place, message)
  local line = type(place) == "number" and place or chapter.where(place)
  local text = ("%s:%d: %s"):format(shown(chapter.path), line, message)
  if chapter.problems[text] then return end
  chapter.problems[text] = true
  table.insert(chapter.problems, {line = line, text = text})
end

-- Tells what was wrong and stops, if anything was. A draft goes on.
function chapter.finish()
  if #chapter.problems == 0 then return end
  table.sort(chapter.problems, function(a, b)
    return a.line < b.line or a.line == b.line and a.text < b.text
  end)
  for _, problem in ipairs(chapter.problems) do io.stderr:write(problem.text, "\n") end
  chapter.problems = {}
  if not require("setting").draft then os.exit(1) end
end

return chapter
