-- facts.lua: what the chapters know of each other. Each writes its own (mode facts), book.lua
-- puts them together, and every page is made with all of them.
--
--   facts.save(path, table), facts.load(path)
--   facts.whole              true with the facts of the whole book
--   facts.pages              in reading order: {page =, id =, number =, title =, sections =, ..}
--   facts.chapters[id], facts.by_page[page], facts.labels["eq:8"], facts.names["prefix"]
--   facts.own_sections(page) its headings that no other chapter has
--   facts.meant(kind, name)  ": did you mean .." for a reference that leads nowhere

local chapter = require "chapter"
local setting = require "setting"

local facts = {pages = {}, chapters = {}, by_page = {}, labels = {}, names = {}}

-- ---- files -------------------------------------------------------------------------------

local function write(value, indent)
  if type(value) ~= "table" then
    return type(value) == "string" and ("%q"):format(value):gsub("\\\n", "\\n") or tostring(value)
  end
  local keys, parts = {}, {}
  for key in pairs(value) do if not math.type(key) then table.insert(keys, key) end end
  table.sort(keys)
  local inner = indent .. " "
  for _, key in ipairs(keys) do
    table.insert(parts, ("%s[%q] = %s"):format(inner, key, write(value[key], inner)))
  end
  for _, item in ipairs(value) do table.insert(parts, inner .. write(item, inner)) end
  return "{\n" .. table.concat(parts, ",\n") .. "}"
end

-- Writes a new file that replaces the old one whole; one that would be the same stays.
function facts.put(path, text)
  if chapter.read(path) == text then return end
  local file = assert(io.open(path .. ".tmp", "wb"))
  assert(file:write(text))
  assert(file:close())
  assert(os.rename(path .. ".tmp", path))
end

function facts.save(path, value) facts.put(path, "return " .. write(value, "") .. "\n") end

function facts.load(path) return assert(loadfile(path, "t", {}))() end

-- ---- the whole book -------------------------------------------------------------------------

function facts.index(pages)
  facts.whole, facts.pages = true, pages
  for _, page in ipairs(pages) do
    facts.chapters[page.id], facts.by_page[page.page] = page, page
    for _, label in ipairs(page.labels) do
      label.page = page.page
      facts.labels[label.kind .. ":" .. label.name] = label
    end
    for name, anchor in pairs(page.entries or {}) do
      facts.names[name] = {page = page.page, anchor = anchor}
    end
  end
end

function facts.load_book()
  facts.index(facts.load(("%s/%s/book.lua"):format(setting.build, setting.lang)).pages)
end

-- The sections of a chapter but for those that others have as well, such as "By hand".
function facts.own_sections(page)
  local count, list = {}, {}
  for _, other in ipairs(facts.pages) do
    for _, section in ipairs(other.sections) do
      count[section.title] = (count[section.title] or 0) + 1
    end
  end
  for _, section in ipairs(page.sections) do
    if section.level == 2 and count[section.title] == 1 then table.insert(list, section) end
  end
  return list
end

-- Labels of the kind that begin as the wrong one does, or all if there are few.
function facts.meant(kind, name)
  local list = {}
  if kind == "ch" then
    for id in pairs(facts.chapters) do table.insert(list, id) end
  else
    for key in pairs(facts.labels) do
      local k, n = key:match("^(%l+):(.*)$")
      if k == kind and n:sub(1, 1) == name:sub(1, 1) then table.insert(list, n) end
    end
  end
  table.sort(list)
  return #list > 0 and ("; there are " .. table.concat(list, ", ")) or ""
end

-- The keys of doc/references.bib.
function facts.bibliography()
  if not facts.keys then
    facts.keys = {}
    local text = chapter.read(setting.root .. "/doc/references.bib") or ""
    for key in text:gmatch("@%a+%s*{%s*([^,%s]+)%s*,") do facts.keys[key] = true end
  end
  return facts.keys
end

return facts
