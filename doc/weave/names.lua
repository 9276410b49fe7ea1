-- names.lua: public names in inline code and terms: what the register at the end lists.
--
-- `prefix`, `t:sum()` and `tarn_prefix` are known from the reference of functions; there is
-- nothing to mark. [prefix sum]{.term} stands where a term is defined, once in the book.

local chapter = require "chapter"
local facts = require "facts"
local marks = require "marks"
local html = require "html"

-- used, shown: inline code, and words typed in transcripts -> where they are first:
-- {place =, anchor =}, the places of a chapter being counted
local names = {used = {}, shown = {}, terms = {}, places = 0, transcripts = 0}

local function first_place(list, key, anchor)
  if list[key] then return false end
  names.places = names.places + 1
  list[key] = {place = names.places, anchor = anchor}
  return true
end

-- The entry that a piece of code is about: `prefix`, `prefix(q, k, v)`, `st:step(..)`.
function names.key_of(code)
  local text = code:match("^%??([%w_.:]+)$") or code:match("^%??([%w_.:]+)%s*%b()$")
    or code:match("^%??([%w_.:]+)%s*%b{}$")
  if not text then return nil end
  text = text:gsub("^tarn%.", "")
  if facts.names[text] then return text end
  local receiver, method = text:match("^([%w_]+)([.:][%w_]+)$")
  for _, one in ipairs(method and {receiver, "t", "st"} or {}) do
    if facts.names[one .. method] then return one .. method end
  end
end

function names.Code(code)
  local anchor = ("%s-code-%d"):format(chapter.id, names.places + 1)
  code.attr = pandoc.Attr(first_place(names.used, code.text, anchor) and anchor or "")
  local key = names.key_of(code.text)
  if not key then return nil end
  return pandoc.Link({code}, marks.address(facts.names[key].page, facts.names[key].anchor), "",
    pandoc.Attr("", {"name"}))
end

-- Names in what is typed at the prompt: "prefix", ":mm", ".shape". Gives the transcript's anchor.
function names.in_transcript(text)
  names.transcripts = names.transcripts + 1
  local anchor = ("%s-transcript-%d"):format(chapter.id, names.transcripts)
  for line in text:gmatch("[^\n]+") do
    local typed = line:match("^>>? ?(.*)$") or ""
    for word in typed:gsub('%b""', '""'):gmatch("[.:]?%a[%w_]*") do
      first_place(names.shown, word, anchor)
    end
  end
  return anchor
end

function names.Span(span)
  if not span.classes:includes "term" then return nil end
  local symbol = span.attributes.symbol
  local text = symbol or html.plain(span.content)
  local id = html.anchor("term", text)
  if symbol then id = "symbol-" .. symbol:gsub("[^%w_\x80-\xff]+", "-") end
  table.insert(names.terms, {text = text, id = id, line = chapter.where("]{.term}"),
    symbol = symbol and true or nil})
  return {html.inline('<dfn id="%s">', id), pandoc.Span(span.content), html.inline("</dfn>")}
end

return names
