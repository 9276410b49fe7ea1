-- html.lua: pieces of HTML that the filter writes itself.

local html = {}

function html.escape(text)
  return (text:gsub("[&<>\"]", {["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;"}))
end

function html.block(format, ...) return pandoc.RawBlock("html", format:format(...)) end
function html.inline(format, ...) return pandoc.RawInline("html", format:format(...)) end

function html.link(address, text, class)
  return ('<a%s href="%s">%s</a>'):format(class and ' class="' .. class .. '"' or "", address, text)
end

-- The title of a page with its number, if it has one.
function html.title(page)
  local number = page.number and ('<span class="no">%d</span>'):format(page.number) or ""
  return number .. html.escape(page.title)
end

-- What a heading says, without mark-up: for contents, titles and running heads.
local signs = {phi = "φ", top = "T", T = "T", sum = "Σ", neq = "≠", times = "×", R = "R"}
function html.plain(inlines)
  local text = pandoc.utils.stringify(pandoc.Span(inlines):walk {
    Math = function(m)
      return pandoc.Str((m.text:gsub("\\(%a+)%s*", function(word) return signs[word] or word end)
        :gsub("[{}]", "")))
    end,
  })
  return (text:gsub("%s+", " "))
end

-- An anchor from any text: letters, digits and hyphens.
function html.anchor(prefix, text)
  local id = text:lower():gsub("[^%w\x80-\xff]+", "-"):gsub("^%-+", ""):gsub("%-+$", "")
  return prefix .. "-" .. id
end

return html
