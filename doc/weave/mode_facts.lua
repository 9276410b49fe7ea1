-- mode_facts.lua: writes what a chapter has into BUILD/LANG/NAME.lua, for the other chapters.

local chapter = require "chapter"
local setting = require "setting"
local facts = require "facts"
local marks = require "marks"
local names = require "names"
local listing = require "listing"
local reference = require "reference"
local weave = require "weaving"

return function(doc)
  chapter.open(PANDOC_STATE.input_files[1])
  weave(doc)
  chapter.finish()
  facts.save(("%s/%s/%s.lua"):format(setting.build, setting.lang, chapter.name), {
    path = chapter.path, name = chapter.name, page = chapter.page, number = chapter.number,
    id = chapter.id, title = chapter.title, about = chapter.about, sections = marks.sections,
    labels = marks.of_chapter, terms = names.terms, codes = names.used, shown = names.shown,
    entries = reference.entries, regions = listing.used,
  })
  return pandoc.Pandoc {}
end
