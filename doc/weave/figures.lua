-- figures.lua: ![caption](figures/NAME.svg){#fig:name alt="what one sees"}, alone in a paragraph.

local chapter = require "chapter"
local setting = require "setting"
local marks = require "marks"
local html = require "html"

local figures = {}

local OPENING = '<figure id="fig-%s">\n<div class="scroll" tabindex="0"><img src="%s" alt="%s">' ..
  "</div>\n<figcaption><b>%s %s</b> "

local function next_number()
  local n = 1
  for _, label in ipairs(marks.of_chapter) do if label.kind == "fig" then n = n + 1 end end
  return chapter.number and ("%d.%d"):format(chapter.number, n) or tostring(n)
end

local function exists(path)
  local name = path:match("^figures/(.*)%.svg$")
  return name and (chapter.read(("%s/doc/figures/%s.lua"):format(setting.root, name)) or
    chapter.read(("%s/doc/figures/%s.svg"):format(setting.root, name)))
end

-- What is wrong with a figure.
local function problem_of(image)
  if not (image.attributes.alt or ""):find("%S") then
    return "this figure has no alt text: what one sees, in words"
  elseif not image.identifier:find("^fig:.") then
    return "this figure has no label: {#fig:name alt=\"..\"}"
  elseif not exists(image.src) then
    return ("there is no doc/figures/%s.lua that makes %s"):format(
      image.src:match("([^/]*)%.%w*$") or "?", image.src)
  end
end

local function figure(image)
  local problem = problem_of(image)
  if problem then return chapter.complain(image.src, problem) end
  local name = image.identifier:match("^fig:(.+)$")
  local number = next_number()
  marks.label("fig", name, "#fig:" .. name).number = number
  return {
    html.block(OPENING, name, html.escape(image.src), html.escape(image.attributes.alt),
      setting.words.Figure, number),
    pandoc.Plain(image.caption),
    html.block("</figcaption>\n</figure>"),
  }
end

function figures.Para(para)
  if #para.content == 1 and para.content[1].t == "Image" then return figure(para.content[1]) end
end

return figures
