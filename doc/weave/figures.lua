-- figures.lua: ![caption](figures/NAME.svg){#fig:name alt="what one sees"}, alone in a paragraph.

local chapter = require "chapter"
local setting = require "setting"
local marks = require "marks"
local html = require "html"

local figures = {}

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

local function figure(image)
  local name = image.identifier:match("^fig:(.+)$")
  local alt = image.attributes.alt or ""
  if not alt:find("%S") then chapter.complain(image.src, "this figure has no alt text: what one sees, in words") end
  if not name then
    return chapter.complain(image.src, "this figure has no label: {#fig:name alt=\"..\"}")
  end
  if not exists(image.src) then
    chapter.complain(image.src, ("there is no doc/figures/%s.lua that makes %s"):format(
      image.src:match("([^/]*)%.%w*$") or "?", image.src))
  end
  local number = next_number()
  marks.label("fig", name, "#fig:" .. name).number = number
  return {
    html.block('<figure id="fig-%s">\n<div class="scroll" tabindex="0"><img src="%s" alt="%s"></div>\n<figcaption><b>%s %s</b> ', name,
      html.escape(image.src), html.escape(alt), setting.words.Figure, number),
    pandoc.Plain(image.caption),
    html.block("</figcaption>\n</figure>"),
  }
end

function figures.Para(para)
  if #para.content == 1 and para.content[1].t == "Image" then return figure(para.content[1]) end
end

return figures
