-- cited.lua: after citeproc: citations lead to the bibliography, which is a page of its own.

local path = PANDOC_STATE.input_files[1] or ""
local is_bibliography = path:find("bibliography%.md$")

function Pandoc(doc)
  if is_bibliography then return doc end
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
