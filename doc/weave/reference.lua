-- reference.lua: the page of all functions, from reference.md that tarn itself writes.
--
-- Its entries are headings of level 3; a function in C may share an entry with others. Their
-- anchors are what names in inline code lead to.

local chapter = require "chapter"
local html = require "html"

local reference = {entries = {}}

function reference.is_here() return chapter.name == "reference" end

local function anchor(key)
  return "entry-" .. key:gsub("[^%w_]", function(sign)
    return sign == ":" and "-" or sign == "." and "--" or ("-%02x"):format(sign:byte())
  end)
end

-- Gives each entry its anchor; headings move one level down, below the title of the page.
function reference.prepare(blocks)
  for i, block in ipairs(blocks) do
    if block.t == "Header" then
      local key = pandoc.utils.stringify(block)
      if block.level == 3 then
        block.identifier = anchor(key)
        reference.entries[key] = "reference-" .. block.identifier
        local calls = blocks[i + 1]
        if calls and calls.t == "CodeBlock" and calls.classes[1] == "c" then
          for name in calls.text:gmatch("(tarn_[%w_]+)%(") do
            reference.entries[name] = reference.entries[name] or "reference-" .. block.identifier
          end
        end
      end
      block.level = block.level + 1
    end
  end
end

return reference
