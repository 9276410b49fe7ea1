-- register.lua: divs that are made of the facts of all chapters: ::: contents on the first page,
-- and ::: {.register of=terms}, of=symbols, of=functions, of=library.

local facts = require "facts"
local names = require "names"
local html = require "html"

local register = {}

-- ---- contents ------------------------------------------------------------------------------

-- What a chapter is about, and sections that no other chapter has.
local function contents_entry(page)
  local sections = {}
  for _, section in ipairs(page.number and facts.own_sections(page) or {}) do
    local address = page.page .. "#" .. section.anchor
    table.insert(sections, html.link(address, html.escape(section.title)))
  end
  return ('<li class="%s">%s%s%s</li>'):format(page.number and "chapter" or "other",
    html.link(page.page, html.title(page), "title"),
    page.about and '<p class="about">' .. html.escape(page.about) .. "</p>" or "",
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

-- "7", or what a page without a number is called; in print it becomes the number of a sheet.
local function link_to(page, anchor)
  return html.link(page.page .. "#" .. anchor, page.number or html.escape(page.title), "place")
end

local function by_letter(list)
  table.sort(list, function(a, b)
    local x, y = a.key:lower(), b.key:lower()
    return x < y or x == y and a.html < b.html
  end)
  local items = {}
  for _, item in ipairs(list) do table.insert(items, item.html) end
  return '<ul class="register">\n' .. table.concat(items, "\n") .. "\n</ul>"
end

-- Where names are spoken of: found[key] = links, one a chapter, to the first place with it.
local function places()
  local found = {}
  for _, page in ipairs(facts.pages) do
    local first = {}
    for code, at in pairs(page.name ~= "reference" and page.codes or {}) do
      local key = names.key_of(code)
      if key and not (first[key] and first[key].place < at.place) then first[key] = at end
    end
    for key, at in pairs(first) do
      found[key] = found[key] or {}
      table.insert(found[key], link_to(page, at.anchor))
    end
  end
  return found
end

-- The first transcript that has a name, in a chapter.
local function first_shown(key)
  local word = key:match("^%l+([.:][%w_]+)$") or key
  for _, page in ipairs(facts.pages) do
    if page.number and page.shown[word] then return {link_to(page, page.shown[word].anchor)} end
  end
end

local function functions(wanted)
  local list, found = {}, places()
  for key, target in pairs(facts.names) do
    if wanted(key) then
      local links = found[key] or first_shown(key) or {}
      local entry = html.link(target.page .. "#" .. target.anchor,
        "<code>" .. html.escape(key) .. "</code>", "name")
      table.insert(list, {
        key = key:gsub("^s?t[.:]", ""),
        html = ("<li>%s %s</li>"):format(entry, table.concat(links, ", ")),
      })
    end
  end
  return by_letter(list)
end

-- "S_i" as one writes it.
local function letters(text)
  text = html.escape(text):gsub("(%a+)_(%w+)", "<i>%1</i><sub>%2</sub>")
  return (text:gsub("^%a$", "<i>%0</i>"))
end

local function terms(symbols)
  local list = {}
  for _, page in ipairs(facts.pages) do
    for _, term in ipairs(page.terms) do
      if (term.symbol or false) == symbols then
        local text = symbols and letters(term.text) or html.escape(term.text)
        table.insert(list, {
          key = term.text,
          html = ("<li>%s %s</li>"):format(text, link_to(page, term.id)),
        })
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
