-- exercises.lua: the exercises of a chapter, from their manifests exercises/NN-name/exercise.lua.

local chapter = require "chapter"
local setting = require "setting"
local marks = require "marks"
local html = require "html"

local exercises = {}

-- A manifest says what an exercise is, and has functions that are not called here; what it
-- asks of the program meanwhile is nothing.
local nothing = setmetatable({}, {})
local meta = getmetatable(nothing)
meta.__index, meta.__call = function() return nothing end, function() return nothing end

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

-- The manifests of this chapter, in order.
local function of_chapter()
  local list, folder = {}, setting.root .. "/exercises"
  for name in pandoc.pipe("ls", {folder}, ""):gmatch("[^\n]+") do
    local number, rest = name:match("^(%d%d)%-(.+)$")
    if tonumber(number) == chapter.number then
      local manifest = read_manifest(("%s/%s/exercise.lua"):format(folder, name))
      if manifest then table.insert(list, {name = rest, manifest = manifest}) end
    end
  end
  table.sort(list, function(a, b)
    local x, y = a.manifest.order or 0, b.manifest.order or 0
    return x < y or x == y and a.name < b.name
  end)
  return list
end

local function item(one)
  local words, m = setting.words, one.manifest
  marks.label("ex", one.name, "::: exercises").title = m.title
  return html.block('<li id="ex-%s"><p><strong>%s</strong> <code>%s</code> <span class="facts">%s, %d %s, %d %s</span><br>%s</p></li>',
    one.name, html.escape(m.title or one.name), one.name, words.languages[m.language] or "?",
    m.minutes or 0, words.minutes, m.points or 0, words.points, html.escape(m.summary or ""))
end

function exercises.list(content)
  local list = pandoc.List(content)
  local items = of_chapter()
  if #items == 0 then return list end
  list:insert(html.block('<ol class="exercises">'))
  for _, one in ipairs(items) do list:insert(item(one)) end
  list:insert(html.block("</ol>"))
  return list
end

return exercises
