-- weaving.lua: a chapter from mark-up to what pandoc writes; all kinds of mark-up meet here.
--
-- The first line is the title, `# Causal masking is a prefix sum {#prefix}`; what follows is
-- taken block by block, so that it is known below which heading something stands.

local chapter = require "chapter"
local listing = require "listing"
local maths = require "maths"
local marks = require "marks"
local names = require "names"
local boxes = require "boxes"
local figures = require "figures"
local reference = require "reference"
local html = require "html"

local function take_title(blocks)
  local title = blocks[1]
  while title and title.t ~= "Header" do
    table.remove(blocks, 1)
    title = blocks[1]
  end
  if not title or title.level ~= 1 then
    chapter.complain(1, "a chapter begins with its title: # Title {#id}")
    chapter.finish()
  end
  table.remove(blocks, 1)
  chapter.id, chapter.title = title.identifier, html.plain(title.content)
end

local function Header(header)
  local title = html.plain(header.content)
  if header.level == 1 then
    chapter.complain("# " .. title, "a second title; headings below it are ## and ###")
  end
  header.identifier = marks.section(header.level, header.identifier, title)
  return header
end

-- Wide tables scroll inside themselves; in print long ones go on over the page.
local LONG = 10
local function Table(t)
  if #t.bodies[1].body > LONG then t.classes:insert "long" end
  return {html.block('<div class="scroll" tabindex="0">'), t, html.block("</div>")}
end

local function Para(para)
  listing.check(para.content)
  return figures.Para(para)
end

-- What is done where. Formulas, then code, before what holds them.
local inner = {
  Math = maths.Math, Code = names.Code, Cite = marks.Cite, Link = marks.Link, Span = names.Span,
  CodeBlock = listing.CodeBlock, RawBlock = listing.RawBlock, Para = Para, Table = Table,
  Div = boxes.Div, Header = Header,
}

local function weave(doc)
  take_title(doc.blocks)
  if reference.is_here() then reference.prepare(doc.blocks) end
  maths.prepare(doc)
  doc = marks.capitals(doc)
  local out = pandoc.List()
  for _, block in ipairs(doc.blocks) do
    out:extend(pandoc.walk_block(pandoc.Div {block}, inner).content)
  end
  doc.blocks = out
  return doc
end

return weave
