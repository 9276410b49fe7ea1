-- mode_page.lua: a chapter as a page of the site, with all that is around its text.

local chapter = require "chapter"
local facts = require "facts"
local navigation = require "navigation"
local register = require "register"
local weave = require "weaving"

return function(doc)
  facts.load_book()
  chapter.open(PANDOC_STATE.input_files[1])
  doc = weave(doc)
  chapter.finish()
  doc = register.fill(doc)
  navigation.set(doc.meta)
  if chapter.id == "bibliography" then doc.meta.nocite = pandoc.MetaInlines {
    pandoc.Cite({pandoc.Str "@*"}, {pandoc.Citation("*", "AuthorInText")})} end
  return doc
end
