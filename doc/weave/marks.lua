-- marks.lua: what can be referred to, and references: @ch:prefix, @eq:8, @fig:name, @ex:name,
-- @sec:id. They become links, also into other chapters; [@katharopoulos2020] is left to citeproc.
--
--   marks.label(kind, name, text)   a label of this chapter; text: where it stands, for messages
--   marks.section(level, id, title) a heading
--   marks.of_chapter                all labels of this chapter: {kind =, name =, line =, number =}

local chapter = require "chapter"
local setting = require "setting"
local facts = require "facts"
local html = require "html"

local marks = {of_chapter = {}, sections = {}}

local KINDS = {ch = true, eq = true, fig = true, ex = true, sec = true}

function marks.label(kind, name, text)
  local line = chapter.where(text)
  for _, label in ipairs(marks.of_chapter) do
    if label.kind == kind and label.name == name then
      chapter.complain(line, ("label %s:%s is also at line %d"):format(kind, name, label.line))
    end
  end
  local label = {kind = kind, name = name, line = line}
  table.insert(marks.of_chapter, label)
  return label
end

-- Headings of all chapters share one page in print: theirs begin with the chapter's own.
function marks.section(level, id, title)
  local anchor = chapter.id .. "-" .. id
  if id:sub(1, #chapter.id + 1) == chapter.id .. "-" then anchor = id end
  for _, section in ipairs(marks.sections) do
    if section.anchor == anchor then
      chapter.complain("# " .. title, "two headings are called " .. id)
    end
  end
  table.insert(marks.sections, {level = level, id = id, anchor = anchor, title = title})
  chapter.section = anchor
  return anchor
end

-- ---- references ------------------------------------------------------------------------------

local function upper(text) return text:sub(1, 1):upper() .. text:sub(2) end

-- Whether a sentence begins at this place of a list: not after "e.g." or "K."
local function begins_sentence(list, i)
  if i == 1 then return true end
  local before = list[i - 2]
  return before and before.t == "Str" and before.text:find("[.?!]$")
    and not before.text:find("^%a%.") and not before.text:find("%.%a+%.$")
end

-- A reference that begins a sentence begins with a capital letter: @ch:x becomes @Ch:x.
function marks.capitals(doc)
  return doc:walk {
    Inlines = function(list)
      for i, cite in ipairs(list) do
        local first = cite.t == "Cite" and cite.citations[1]
        local kind = first and first.mode == "AuthorInText" and first.id:match("^(%l+):")
        if KINDS[kind] and begins_sentence(list, i) then first.id = upper(first.id) end
      end
      return list
    end,
  }
end

local function link(address, text) return html.inline("%s", html.link(address, text, "ref")) end

-- The address of an anchor in some chapter.
function marks.address(page, anchor)
  if page == chapter.page then return "#" .. anchor end
  return page .. "#" .. anchor
end

local resolve = {}

function resolve.ch(name, inside)
  local target = facts.chapters[name]
  if not target then return nil end
  local word = inside and setting.words.chapter or upper(setting.words.chapter)
  local title = html.escape(target.title)
  local text = target.number and ("%s %d"):format(word, target.number) or title
  return html.inline('<a class="ref" href="%s" title="%s">%s</a>', target.page, title, text)
end

function resolve.sec(name)
  for _, one in ipairs {facts.by_page[chapter.page] or {}, table.unpack(facts.pages)} do
    for _, section in ipairs(one.sections or {}) do
      if section.id == name or section.anchor == name then
        local title = "“" .. html.escape(section.title) .. "”"
        return link(marks.address(one.page, section.anchor), title)
      end
    end
  end
end

local words_for = {eq = "equation", fig = "figure", ex = "exercise"}
local function numbered(kind, name, inside)
  local label = facts.labels[kind .. ":" .. name]
  if not label then return nil end
  local text = kind == "eq" and "(" .. name .. ")" or label.number or
    "“" .. html.escape(label.title or name) .. "”"
  local word = setting.words[words_for[kind]]
  return link(marks.address(label.page, kind .. "-" .. name),
    (inside and word or upper(word)) .. " " .. text)
end
for kind in pairs(words_for) do
  resolve[kind] = function(name, inside) return numbered(kind, name, inside) end
end

local function reference(citation)
  local kind, name = citation.id:match("^(%a+):(.+)$")
  kind = kind and kind:lower()
  if not KINDS[kind] then return nil end
  if not facts.whole then return html.inline("?") end
  local found = resolve[kind](name, kind == citation.id:match("^%l+"))
  if found then return found end
  local id = ("@%s:%s"):format(kind, name)
  chapter.complain(id, "unknown reference " .. id .. facts.meant(kind, name))
  return html.inline("?")
end

-- A source of the bibliography.
local function cite_source(id)
  if not facts.bibliography()[id] then
    chapter.complain("@" .. id, "unknown reference @" .. id ..
      ": neither a label nor in doc/references.bib")
  end
end

-- One bracket may have several references, [@ch:prefix; @eq:8], or several sources.
function marks.Cite(cite)
  local list, sources = pandoc.List(), 0
  for _, citation in ipairs(cite.citations) do
    local found = reference(citation)
    if found then
      if #list > 0 then list:insert(pandoc.Str ", ") end
      list:extend(citation.prefix)
      if #citation.prefix > 0 then list:insert(pandoc.Space()) end
      list:insert(found)
      list:extend(citation.suffix)
    else
      cite_source(citation.id)
      sources = sources + 1
    end
  end
  if sources == 0 then return list end
  if #list > 0 then
    chapter.complain("@" .. cite.citations[1].id,
      "one bracket has both a reference and a citation: use two")
  end
end

-- ---- links that authors write ------------------------------------------------------------------

local function anchor_in(page, id)
  for _, section in ipairs(page.sections) do
    if section.id == id or section.anchor == id then return section.anchor end
  end
  for _, label in ipairs(page.labels) do
    if label.kind .. ":" .. label.name == id then return label.kind .. "-" .. label.name end
  end
end

-- [text](#id) and [text](04-prefix-sum.md#id).
function marks.Link(a)
  if a.target:find("^%a+:") or not facts.whole then return nil end
  local file, id = a.target:match("^([^#]*)#?(.*)$")
  local page = file == "" and chapter.page or (file:match("^([^/]*)%.md$") or "") .. ".html"
  local target = facts.by_page[page]
  if target then
    local anchor = id ~= "" and anchor_in(target, id)
    if id ~= "" and not anchor then
      chapter.complain(a.target, ("no heading or label %s in %s"):format(id, target.name .. ".md"))
    end
    a.target = anchor and marks.address(page, anchor) or page
    a.content = a.content:walk {Link = function(name) return name.content end}
    return a
  end
  local path = ("%s/doc/%s/%s"):format(setting.root, setting.lang, file)
  if not chapter.read(path) then chapter.complain(a.target, "there is no file " .. file) end
  return a.content
end

return marks
