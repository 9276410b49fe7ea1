-- boxes.lua: the divs of a chapter: questions, folded answers, the 4 x 4 example, costs,
-- pitfalls, claims, notes; and ::: exercises, which lists those of the chapter.

local chapter = require "chapter"
local setting = require "setting"
local exercises = require "exercises"
local html = require "html"

local boxes = {}

-- Divs that are filled elsewhere.
local OTHERS = {exercises = true, contents = true, register = true, refs = true}

local function known()
  local list = {}
  for class in pairs(setting.words.boxes) do table.insert(list, class) end
  for class in pairs(OTHERS) do table.insert(list, class) end
  table.sort(list)
  return table.concat(list, ", ")
end

local function around(opening, content, closing)
  local list = pandoc.List {opening}
  list:extend(content)
  list:insert(closing)
  return list
end

local OPENING = '<div class="box %s" role="note">\n<p class="box-title">%s</p>'

function boxes.Div(div)
  local class = div.classes[1] or div.identifier
  local title = setting.words.boxes[class]
  if class == "exercises" then
    return div.attributes.chapter == "all" and exercises.table() or exercises.list(div.content)
  elseif class == "answer" then
    return around(html.block('<details class="answer"><summary>%s</summary>', title), div.content,
      html.block("</details>"))
  elseif title then
    return around(html.block(OPENING, class, title), div.content, html.block("</div>"))
  elseif not OTHERS[class] then
    chapter.complain("::: " .. class, ("unknown div '%s'; there are %s"):format(class, known()))
  end
end

return boxes
