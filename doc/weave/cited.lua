-- cited.lua: after citeproc: citations lead to the bibliography, which is a page of its own, and
-- its entries say where to find a paper.

local path = PANDOC_STATE.input_files[1] or ""
local is_bibliography = path:find("bibliography%.md$")

-- Styles leave the notes out that tell a paper's number at arXiv.
local function with_notes(doc)
  local notes = {}
  for _, entry in ipairs(pandoc.utils.references(doc)) do
    notes["ref-" .. entry.id] = entry.note and pandoc.utils.stringify(entry.note)
  end
  return doc:walk {
    Div = function(div)
      local number = (notes[div.identifier] or ""):match("^arXiv:(%S+)$")
      local last = div.content[#div.content]
      if not number or not last then return nil end
      local link = pandoc.Link("arXiv:" .. number, "https://arxiv.org/abs/" .. number)
      last.content:extend {pandoc.Space(), link, pandoc.Str "."}
      return div
    end,
  }
end

function Pandoc(doc)
  if is_bibliography then return with_notes(doc) end
  local blocks = pandoc.List()
  for _, block in ipairs(doc.blocks) do
    if block.identifier ~= "refs" then blocks:insert(block) end
  end
  doc.blocks = blocks
  return doc:walk {
    Link = function(a)
      if a.target:find("^#ref%-") then
        a.target = "bibliography.html" .. a.target
        return a
      end
    end,
  }
end
