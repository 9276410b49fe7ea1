-- listing.lua: blocks of code. An empty one with include= and region= shows a region of the
-- sources, with file, lines and function above it; one of class repl is a transcript.

local chapter = require "chapter"
local source = require "source"
local setting = require "setting"
local names = require "names"
local html = require "html"

local listing = {used = {}}

-- pandoc has no highlighting of its own for these.
local highlighted_as = {cuda = "cpp", cu = "cpp", h = "c"}

-- Blocks that are wider than a phone scroll inside themselves; tabindex lets the keyboard
-- reach those. In print nothing scrolls.
local PHONE, SHEET = 33, 90
local function code(text, language, anchor)
  local attributes = {}
  for line in text:gmatch("[^\n]+") do
    local columns = utf8.len(line) or #line
    if columns > PHONE then attributes.tabindex = "0" end
    if columns > SHEET then
      chapter.complain(line, ("this line has %d columns, at most %d fit in print"):format(columns,
        SHEET))
    end
  end
  return pandoc.CodeBlock(text,
    pandoc.Attr(anchor or "", {highlighted_as[language] or language}, attributes))
end

-- What a region is inside of or the whole of: "in <code>f</code>", or nil. Tests have claims
-- for names: Test(group, claim) in C, test("claim", ..) in Lua.
local function function_of(region)
  local words, list = setting.words, {}
  for _, name in ipairs(region.inside and {region.inside} or region.whole) do
    local claim = name:match("^Test%((.*)%)$") or name:find(" ", 1, true) and name
    if claim and not list.word then list.word = words.test end
    list.word = list.word or region.inside and words.inside or words.whole
    table.insert(list, "<code>" .. html.escape(claim or name) .. "</code>")
  end
  return #list > 0 and list.word .. " " .. table.concat(list, ", ") or nil
end

-- "src/stages/phi.c, lines 34-43, function elu1"
local function caption(path, region)
  local words = setting.words
  local lines = region.first == region.last and ("%s %d"):format(words.line, region.first)
    or ("%s %d–%d"):format(words.lines, region.first, region.last)
  local file = ('<span class="file">%s</span>'):format(html.escape(path))
  return table.concat({file, lines, function_of(region)}, ", ")
end

local function include(block)
  local path, name = block.attributes.include, block.attributes.region
  local place = ('region="%s"'):format(name or "")
  if not name then
    return chapter.complain('include="' .. path, "this listing names no region of " .. path)
  end
  if block.text ~= "" then
    chapter.complain(place, "a listing of a region has no text of its own")
  end
  local region, message = source.region(path, name)
  if not region then return chapter.complain(place, message) end
  table.insert(listing.used, path .. ":" .. name)
  local language = block.classes[1]
  if path:find("%.cuh?$") then language = "cuda" end
  return {
    html.block('<figure class="listing">\n<figcaption>%s</figcaption>', caption(path, region)),
    code(table.concat(region.lines, "\n"), language),
    html.block('</figure>'),
  }
end

function listing.CodeBlock(block)
  if block.attributes.include then return include(block) end
  if block.classes:includes "hidden" then return {} end
  local anchor = block.classes:includes "repl" and names.in_transcript(block.text) or nil
  return code(block.text, block.classes[1] or "text", anchor)
end

-- Comments are for authors and programs, not for readers; one of them, <!-- about: .. -->, is
-- the line that contents show below the title.
function listing.RawBlock(raw)
  if raw.format ~= "html" or not raw.text:find("^%s*<!%-%-") then return nil end
  local about = raw.text:match("<!%-%- about:%s*(.-)%s*%-%->")
  chapter.about = chapter.about or about and about:gsub("%s+", " ")
  return {}
end

-- Tags behind a word, as in ```repl slow, are for --doctest; pandoc takes them for text.
function listing.check(inlines)
  local first = inlines[1]
  if first and first.t == "Code" and first.text:find("^repl ") then
    chapter.complain("```repl ", "pandoc reads no word behind ```repl: write ```{.repl .slow}")
  end
end

return listing
