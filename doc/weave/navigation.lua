-- navigation.lua: what is around the text of a page: contents, the way on and back.
--
-- A template (page.html) has the places: contents stand once at the side, for wide windows, and
-- once folded away at the top, for phones; one of the two is always hidden.

local chapter = require "chapter"
local setting = require "setting"
local facts = require "facts"
local html = require "html"

local navigation = {}

local function title_of(page)
  return page.name == "index" and setting.words.front or html.title(page)
end

local function here(page) return page.page == chapter.page and ' aria-current="page"' or "" end

-- The sections of a page, one level of headings.
local function sections_of(page)
  local items = {}
  for _, section in ipairs(page.sections) do
    if section.level == 2 then
      local link = html.link("#" .. section.anchor, html.escape(section.title))
      table.insert(items, "<li>" .. link .. "</li>")
    end
  end
  return #items > 0 and '\n<ol class="sections">' .. table.concat(items, "\n") .. "</ol>" or ""
end

-- All pages; below the present one its sections.
local function contents()
  local items = {}
  for _, page in ipairs(facts.pages) do
    local inside = page.page == chapter.page and page.name ~= "index" and sections_of(page) or ""
    table.insert(items, ('<li class="%s"><a href="%s"%s>%s</a>%s</li>'):format(
      page.number and "chapter" or "other", page.page, here(page),
      title_of(page), inside))
  end
  return '<ol class="book">\n' .. table.concat(items, "\n") .. "\n</ol>"
end

local function neighbour(page, rel, word)
  if not page then return "<span></span>" end
  return ('<a rel="%s" href="%s"><span class="way">%s</span> %s</a>'):format(rel, page.page, word,
    title_of(page))
end

local function ways()
  local at
  for i, page in ipairs(facts.pages) do if page.page == chapter.page then at = i end end
  return neighbour(facts.pages[at - 1], "prev", setting.words.previous) .. "\n" ..
    neighbour(facts.pages[at + 1], "next", setting.words.next)
end

function navigation.set(meta)
  local words = setting.words
  local function set(name, text) meta[name] = pandoc.MetaBlocks {html.block("%s", text)} end
  set("nav-contents", contents())
  set("nav-ways", ways())
  meta.pagetitle = chapter.title
  meta.heading = pandoc.MetaInlines {html.inline("%s", html.escape(chapter.title))}
  meta["chapter-id"] = chapter.id
  meta["book-title"] = words.book
  meta["word-skip"], meta["word-contents"] = words.skip, words.contents
  meta["word-ways"] = words.ways
  meta["chapter-number"] = chapter.number and ("%s %d"):format(words.Chapter, chapter.number)
  meta.front = chapter.name == "index"
end

return navigation
