-- register.lua: divs that are made of the facts of all chapters: ::: contents on the first page,
-- and ::: {.register of=terms}, of=symbols, of=functions, of=library.

local facts = require "facts"
local names = require "names"
local html = require "html"

local register = {}

-- ---- contents ------------------------------------------------------------------------------

local function contents_entry(page)
  local sections = {}
  for _, section in ipairs(page.sections) do
    if section.level == 2 and page.number then
      table.insert(sections, ('<a href="%s#%s">%s</a>'):format(page.page, section.anchor, html.escape(section.title)))
    end
  end
  local number = page.number and ('<span class="no">%d</span>'):format(page.number) or ""
  return ('<li class="%s"><a class="title" href="%s">%s%s</a>%s</li>'):format(page.number and "chapter" or "other",
    page.page, number, html.escape(page.title),
    #sections > 0 and '<p class="sections">' .. table.concat(sections, " · ") .. "</p>" or "")
end

local function contents()
  local items = {}
  for _, page in ipairs(facts.pages) do
    if page.name ~= "index" then table.insert(items, contents_entry(page)) end
  end
  return '<ol class="toc">\n' .. table.concat(items, "\n") .. "\n</ol>"
end

-- ---- names and terms ------------------------------------------------------------------------

local function by_letter(list)
  table.sort(list, function(a, b)
    local x, y = a.key:lower(), b.key:lower()
    return x < y or x == y and a.key < b.key
  end)
  local items = {}
  for _, item in ipairs(list) do table.insert(items, item.html) end
  return '<ul class="register">\n' .. table.concat(items, "\n") .. "\n</ul>"
end

-- Where a name is spoken of: one link a chapter, to the first section that has it.
local function places()
  local found = {}
  for _, page in ipairs(facts.pages) do
    local seen = {}
    local codes = {}
    for code in pairs(page.codes) do table.insert(codes, code) end
    table.sort(codes)
    for _, code in ipairs(codes) do
      local key = page.name ~= "reference" and names.key_of(code)
      if key and not seen[key] then
        seen[key] = true
        found[key] = found[key] or {}
        table.insert(found[key], ('<a href="%s#%s">%s</a>'):format(page.page, page.codes[code],
          page.number or html.escape(page.title)))
      end
    end
  end
  return found
end

local function functions(wanted)
  local list, found = {}, places()
  for key, target in pairs(facts.names) do
    if wanted(key) then
      table.insert(list, {key = key:gsub("^st?[.:]", ""):gsub("^t[.:]", ""), html =
        ('<li><a class="name" href="%s#%s"><code>%s</code></a> %s</li>'):format(target.page, target.anchor,
          html.escape(key), table.concat(found[key] or {}, ", "))})
    end
  end
  return by_letter(list)
end

local function terms(symbols)
  local list = {}
  for _, page in ipairs(facts.pages) do
    for _, term in ipairs(page.terms) do
      if (term.symbol or false) == symbols then
        table.insert(list, {key = term.text, html = ('<li><a href="%s#%s">%s</a> <span class="facts">%s</span></li>'):format(
          page.page, term.id, html.escape(term.text), page.number or html.escape(page.title))})
      end
    end
  end
  return by_letter(list)
end

local kinds = {
  terms = function() return terms(false) end,
  symbols = function() return terms(true) end,
  functions = function() return functions(function(key) return not key:find("^tarn_") end) end,
  library = function() return functions(function(key) return key:find("^tarn_") end) end,
}

function register.fill(doc)
  return doc:walk {
    Div = function(div)
      if div.classes[1] == "contents" then return html.block("%s", contents()) end
      if div.classes[1] == "register" then return html.block("%s", kinds[div.attributes.of]()) end
    end,
  }
end

return register
