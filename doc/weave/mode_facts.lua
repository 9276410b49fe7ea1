-- mode_facts.lua: writes what a chapter has into BUILD/LANG/NAME.lua, for the other chapters, and
-- which sources it shows into NAME.d, for make.

local chapter = require "chapter"
local setting = require "setting"
local facts = require "facts"
local marks = require "marks"
local names = require "names"
local listing = require "listing"
local reference = require "reference"
local weave = require "weaving"

-- A rule without a recipe lets make go on when a source is gone; the chapter then complains.
local RULE = "%s.stamp %s/%s: %s\n%s:\n"
local function write_sources(stem)
  local rules = {}
  for _, region in ipairs(listing.used) do
    local path = setting.root .. "/" .. region:match("^(.*):")
    table.insert(rules, RULE:format(stem, setting.site, chapter.page, path, path))
  end
  facts.put(stem .. ".d", table.concat(rules))
end

return function(doc)
  chapter.open(PANDOC_STATE.input_files[1])
  weave(doc)
  chapter.finish()
  local stem = ("%s/%s/%s"):format(setting.build, setting.lang, chapter.name)
  write_sources(stem)
  facts.save(stem .. ".lua", {
    path = chapter.path, name = chapter.name, page = chapter.page, number = chapter.number,
    id = chapter.id, title = chapter.title, about = chapter.about, sections = marks.sections,
    labels = marks.of_chapter, terms = names.terms, codes = names.used, shown = names.shown,
    entries = reference.entries, regions = listing.used,
  })
  return pandoc.Pandoc {}
end
