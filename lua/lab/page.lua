-- page.lua: text on the terminal: wrapped to the window, painted where colours are, with ASCII
-- where the terminal has no more.
--
--   local page = page.new()      lines that are gathered
--   page:text(text, indent)      paragraphs are wrapped; lines that begin with blanks stay
--   page:line(text), page:blank()
--   page:labelled("red", "FAILED", text)   the same with a word before it
--   page:markdown(text)          a note in Markdown as plain text
--   page:print()                 writes them on stdout
--   page.passing(text)           a line for who waits at a terminal, until the next; "" ends it
--   page.paint("red", text)      colour never stands alone: the words say the same

local host = require "tarn.host"
local printable = require "tarn.lab.printable"
local system = require "tarn.lab.system"
local entry = require "tarn.entry"

local page = {}
page.__index = page

local codes = {red = "31", green = "32", yellow = "33", bold = "1", dim = "2"}

function page.paint(color, text)
  return host.color and ("\27[%sm%s\27[0m"):format(codes[color], text) or text
end

-- What ASCII has for the signs that texts of the course use.
local plain = {["–"] = "-", ["’"] = "'", ["“"] = '"', ["”"] = '"', ["×"] = "x", ["·"] = "*",
  ["≤"] = "<=", ["≥"] = ">=", ["≠"] = "!=", ["φ"] = "phi", ["Σ"] = "sum", ["→"] = "->",
  ["ᵀ"] = "^T", ["²"] = "^2", ["√"] = "sqrt", ["∞"] = "inf", ["…"] = "...", ["ε"] = "eps"}

-- The text as the terminal can show it; what steers a terminal is taken out.
function page.showable(text)
  text = printable.signs(text, "?")
  if host.utf8 and utf8.len(text) then return text end
  return (text:gsub("[\xC2-\xF4][\x80-\xBF]*", function(sign) return plain[sign] or "?" end)
    :gsub("[\x80-\xFF]", "?"))
end

-- On stderr, so that what a pipe gets is the same; a dumb terminal can do this, too.
local shown = 0
function page.passing(text)
  if not system.tty(2) then return end
  io.stderr:write("\r", text, (" "):rep(shown - #text), text == "" and "\r" or "")
  shown = #text
end

function page.new() return setmetatable({lines = {}}, page) end

function page:line(text) self.lines[#self.lines + 1] = text end

function page:blank()
  if self.lines[#self.lines] ~= "" then self:line("") end
end

function page:text(text, indent)
  indent = indent or ""
  for line in (text:gsub("\n+$", "") .. "\n"):gmatch("(.-)\n") do
    line = page.showable(line)
    if line == "" then self:blank()
    elseif line:find("^%s") then self:line(indent .. line)
    else entry.wrap(self.lines, line, indent, indent) end
  end
end

-- A text whose first word is painted; widths are those of the bare text.
function page:labelled(color, word, text)
  local from = #self.lines + 1
  self:text(word .. "  " .. text)
  self.lines[from] = page.paint(color, word) .. self.lines[from]:sub(#word + 1)
end

-- Markdown's paragraphs joined, its code blocks indented and its headings in bold.
function page:markdown(text)
  local paragraph, in_code = {}, false
  local function flush()
    if #paragraph > 0 then self:text(table.concat(paragraph, " ")) end
    paragraph = {}
  end
  for line in (text .. "\n"):gmatch("(.-)\n") do
    local fence, heading = line:find("^```"), line:match("^#+%s+(.*)$")
    local apart = fence or heading or line == "" or line:find("^%s*[-*]%s")
    if (apart or in_code) then flush() end
    if fence then in_code = not in_code
    elseif in_code then self:line("    " .. page.showable(line))
    elseif heading then self:line(page.paint("bold", page.showable(heading)))
    elseif line == "" then self:blank()
    else paragraph[#paragraph + 1] = line end
  end
  flush()
end

function page:print()
  io.write(table.concat(self.lines, "\n"), #self.lines > 0 and "\n" or "")
  io.flush()
end

return page
