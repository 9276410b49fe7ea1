-- printable.lua: text that others have written, as something to look at: names of folders,
-- what a program has printed. What steers a terminal, takes no room or turns the direction of
-- writing is written out instead.
--
--   printable.text(text)    in one line: "a\27[2Jb" becomes "a\x1b[2Jb"
--   printable.signs(text, how)   the same where `how` gives what stands for a sign; \n and \t stay

local printable = {}

local function byte_code(sign) return ("\\x%02x"):format(sign:byte()) end

local function code(sign)
  return #sign == 1 and byte_code(sign) or ("\\u{%x}"):format(utf8.codepoint(sign))
end

-- In UTF-8: the control characters from U+0080 on, and those of U+200B .. U+2069 and U+FEFF
-- that are not seen. One pattern for each first byte.
local hidden = {"\xC2[\x80-\x9F]", "\xE2\x80[\x8B-\x8F\xA8-\xAE]", "\xE2\x81[\xA0-\xAF]",
  "\xEF\xBB\xBF"}

function printable.signs(text, how)
  text = text:gsub("[\0-\8\11-\31\127]", how)
  if not utf8.len(text) then return (text:gsub("[\x80-\xFF]", how)) end
  for _, pattern in ipairs(hidden) do text = text:gsub(pattern, how) end
  return text
end

function printable.text(text)
  return (printable.signs(text, code):gsub("[\t\n]", byte_code))
end

return printable
