-- mode_book.lua: puts the facts of all chapters together, in reading order, and says what only
-- a whole book can do wrong: a label or a term that two chapters have, a region that none shows.
--
-- Metadata: chapters= the names of all chapters, separated by blanks.

local setting = require "setting"
local facts = require "facts"
local chapter = require "chapter"
local unused = require "unused"

-- Numbered chapters first, then the back matter in the order of words.back_matter.
local function in_order(pages)
  local rank = {index = -1}
  for i, name in ipairs(setting.words.back_matter) do rank[name] = 1000 + i end
  local function place(page) return page.number or rank[page.name] or 1900 end
  table.sort(pages, function(a, b)
    return place(a) < place(b) or place(a) == place(b) and a.name < b.name
  end)
  return pages
end

-- complain about what two pages have: kind of thing, its name, in these lists.
local function once(pages, list_of, key_of, say)
  local first = {}
  for _, page in ipairs(pages) do
    for _, item in ipairs(list_of(page)) do
      local key = key_of(item)
      if first[key] then
        chapter.path = page.path
        chapter.complain(item.line or 1, say(key, first[key]))
      else
        first[key] = {path = page.path, line = item.line or 1}
      end
    end
  end
end

local function also(what)
  return function(key, other)
    local path = other.path:gsub("^.*/doc/", "doc/")
    return ("%s %s is also at %s:%d"):format(what, key, path, other.line)
  end
end

return function(doc)
  local pages = {}
  for name in pandoc.utils.stringify(doc.meta.chapters):gmatch("%S+") do
    table.insert(pages, facts.load(("%s/%s/%s.lua"):format(setting.build, setting.lang, name)))
  end
  in_order(pages)
  local function id(item) return item.id end
  local function name(label) return label.kind .. ":" .. label.name end
  once(pages, function(page) return {page} end, id, also "title with the id")
  once(pages, function(page) return page.labels end, name, also "label")
  once(pages, function(page) return page.terms end, id, also "term")
  chapter.finish()
  unused.check(pages)
  facts.save(("%s/%s/book.lua"):format(setting.build, setting.lang), {pages = pages})
  return pandoc.Pandoc {}
end
