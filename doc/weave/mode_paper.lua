-- mode_paper.lua: all pages as one, for print: a title, contents with page numbers, chapters.
--
-- The pages of the site are taken as they are; only what they are wrapped in is left out, and
-- links between them become links within. Places in the index have no text here: WeasyPrint puts
-- the number of the sheet there (paper.css).

local chapter = require "chapter"
local setting = require "setting"
local facts = require "facts"
local html = require "html"

local LEFT_OUT = {index = true}

local function text_of(page)
  local path = pandoc.path.join {setting.site, page.page}
  local text = assert(chapter.read(path))
  return (text:match("<!%-%- text %-%->(.*)<!%-%- end of text %-%->"))
end

-- "04-prefix-sum.html#eq-8" is "#eq-8" here, and the page alone is the head of its chapter.
local function link_within(text)
  return (text:gsub('href="([%w-]+%.html)(#?[^"]*)"', function(page, anchor)
    local target = facts.by_page[page]
    if not target then return nil end
    if LEFT_OUT[target.name] then return "" end
    return ('href="%s"'):format(anchor ~= "" and anchor or "#" .. target.id)
  end))
end

-- MathML is for screen readers of pages; in print it would be a second copy of each formula.
-- Lines of code have anchors from pandoc, which no link leads to.
local function clean(text)
  text = text:gsub('<span class="katex%-mathml">.-</math></span>', "")
  text = text:gsub('<span id="[%w-]+%-%d+"><a href="#[%w-]+%-%d+" aria%-hidden="true"[^>]*></a>',
    "<span>")
  text = text:gsub(' id="cb%d+"', "")
  return (text:gsub('(<a class="place"[^>]*>)[^<]*', "%1"))
end

local function contents(pages)
  local items = {}
  for _, page in ipairs(pages) do
    table.insert(items, "<li>" .. html.link("#" .. page.id, html.title(page)) .. "</li>")
    for _, section in ipairs(page.number and facts.own_sections(page) or {}) do
      table.insert(items, ('<li class="section">%s</li>'):format(
        html.link("#" .. section.anchor, html.escape(section.title))))
    end
  end
  return table.concat(items, "\n")
end

return function(doc)
  facts.load_book()
  local pages, parts = {}, {}
  for _, page in ipairs(facts.pages) do
    if not LEFT_OUT[page.name] then
      table.insert(pages, page)
      table.insert(parts, ('<article class="of-%s">%s</article>'):format(page.name,
        clean(link_within(text_of(page)))))
    end
  end
  local words = setting.words
  doc.meta.pagetitle = words.book .. ": " .. words.subtitle
  doc.meta["book-title"], doc.meta.subtitle = words.book, words.subtitle
  doc.meta["word-contents"], doc.meta.cover = words.contents, words.cover
  doc.meta["contents-list"] = pandoc.MetaBlocks {html.block("%s", contents(pages))}
  doc.blocks = {html.block("%s", table.concat(parts, "\n"))}
  return doc
end
