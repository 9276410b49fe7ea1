-- exercises.lua: the exercises of a chapter, from their manifests exercises/NN-name/exercise.lua;
-- and with ::: {.exercises chapter="all"} a table of all there are.

local chapter = require "chapter"
local setting = require "setting"
local facts = require "facts"
local marks = require "marks"
local html = require "html"

local exercises = {}

local ITEM = '<li id="ex-%s"><p><strong>%s</strong> <code>%s</code> ' ..
  '<span class="facts">%s, %d %s, %d %s</span><br>%s</p></li>'
local ROW = '<tr><td>%d</td><td><a href="%s">%s</a></td><td><code>%s</code></td>' ..
  "<td>%s</td><td>%d</td><td>%d</td></tr>"
local TABLE = '<div class="scroll" tabindex="0"><table class="long">\n<thead><tr>%s</tr></thead>\n' ..
  "<tbody>\n%s\n</tbody></table></div>"

-- A manifest says what an exercise is, and has functions that are not called here; what it
-- asks of the program meanwhile is nothing.
local nothing
local function give_nothing() return nothing end
nothing = setmetatable({}, {__index = give_nothing, __call = give_nothing})

local function read_manifest(path)
  local text = chapter.read(path)
  if not text then return nil end
  local environment = setmetatable({}, {__index = function(_, name)
    return _G[name] ~= nil and name ~= "require" and _G[name] or nothing
  end})
  local f, message = load(text, "@" .. path, "t", environment)
  local ok, manifest = false, message
  if f then ok, manifest = pcall(f) end
  if not ok or type(manifest) ~= "table" then
    return chapter.complain("::: exercises", ("%s: %s"):format(path, tostring(manifest)))
  end
  return manifest
end

-- The manifests of a chapter, or of all, in order.
local function manifests(wanted)
  local list, folder = {}, setting.root .. "/exercises"
  for name in pandoc.pipe("ls", {folder}, ""):gmatch("[^\n]+") do
    local number, rest = name:match("^(%d%d)%-(.+)$")
    number = tonumber(number)
    if number and (wanted == "all" or number == wanted) then
      local manifest = read_manifest(("%s/%s/exercise.lua"):format(folder, name))
      if manifest then
        table.insert(list, {name = rest, number = number, manifest = manifest})
      end
    end
  end
  table.sort(list, function(a, b)
    local x = a.number * 100 + (a.manifest.order or 0)
    local y = b.number * 100 + (b.manifest.order or 0)
    return x < y or x == y and a.name < b.name
  end)
  return list
end

local function item(one)
  local words, m = setting.words, one.manifest
  marks.label("ex", one.name, "::: exercises").title = m.title
  return html.block(ITEM, one.name, html.escape(m.title), one.name, words.languages[m.language],
    m.minutes, words.minutes, m.points, words.points, html.escape(m.summary))
end

-- All exercises of the book as a table, each a link to its place.
function exercises.table()
  local words, rows = setting.words, {}
  for _, one in ipairs(manifests("all")) do
    local m = one.manifest
    local target = facts.labels["ex:" .. one.name]
    local address = target and marks.address(target.page, "ex-" .. one.name) or "#" .. chapter.id
    table.insert(rows, ROW:format(one.number, address, html.escape(m.title), one.name,
      words.languages[m.language], m.minutes, m.points))
  end
  local heads = {}
  for _, word in ipairs(words.exercise_table) do
    table.insert(heads, "<th>" .. word .. "</th>")
  end
  return html.block(TABLE, table.concat(heads), table.concat(rows, "\n"))
end

function exercises.list(content)
  local list = pandoc.List(content)
  local items = manifests(chapter.number)
  if #items == 0 then return list end
  list:insert(html.block('<ol class="exercises">'))
  for _, one in ipairs(items) do list:insert(item(one)) end
  list:insert(html.block("</ol>"))
  return list
end

return exercises
