-- markdown.lua: the transcripts in a Markdown text.
--
--   ```repl                  a block, shown to readers and run by --doctest
--   ```repl gpu              tags: gpu, emu, slow, tol=1e-3 (for its numbers), hidden
--   ```{.repl .gpu}          the same as pandoc writes it
--   <!-- repl                a block that readers do not see: set-up
--   -->
--
-- - Fences are CommonMark's: three or more ` or ~, closed by as many. They may be indented
--   (in a list); what is inside then loses that indent. Blocks inside other blocks and
--   inside other comments are text.
-- - Lines end in \n or \r\n. No text is an error; what can't be right about a block is in
--   a list of problems, each with its line.

local markdown = {}

local known_tags = {gpu = true, emu = true, slow = true, hidden = true}

-- Splits a text into lines without their ends: lines, ends. The last one may have no end.
local function split(text)
  local lines, ends = {}, {}
  local position = 1
  while position <= #text do
    local newline = text:find("\n", position, true)
    local line = text:sub(position, (newline or #text + 1) - 1)
    local stripped = line:match("^(.*)\r$")
    lines[#lines + 1] = newline and stripped or line
    ends[#ends + 1] = newline and (stripped and "\r\n" or "\n") or ""
    position = (newline or #text) + 1
  end
  return lines, ends
end

-- The words of what stands behind a fence: "repl gpu" or "{.repl .gpu #name}".
local function words_of(info)
  local words = {}
  local attributes = info:match("^{(.*)}$")
  for word in (attributes or info):gmatch("%S+") do
    if attributes then word = word:gsub("^%.", "") end
    if not (attributes and word:sub(1, 1) == "#") then words[#words + 1] = word end
  end
  return words
end

-- Takes the tags behind "repl" into the block; gives what is wrong with one of them.
local function take_tags(block, words)
  for i = 2, #words do
    local value = words[i]:match('^tol="?([^"]*)"?$')
    local tolerance = tonumber(value)
    if tolerance and tolerance >= 0 and tolerance < math.huge then
      block.tolerance = tolerance
    elseif value then
      return "tol is " .. value .. ", expected a number, 0 or more"
    elseif not known_tags[words[i]] then
      return "unknown tag '" .. words[i] .. "', expected gpu, emu, slow, hidden or tol=NUMBER"
    end
    block[words[i]] = true
  end
end

-- What opens at this line: {kind =, indent =, closes = function(line), words =}, or nil.
local function opening(line)
  local indent, fence, info = line:match("^([ \t]*)(```+)%s*([^`]-)%s*$")
  if not indent then indent, fence, info = line:match("^([ \t]*)(~~~+)%s*(.-)%s*$") end
  if indent then
    local closing = "^%s*" .. fence .. fence:sub(1, 1) .. "*%s*$"
    return {
      indent = indent,
      words = words_of(info),
      closes = function(inner) return inner:find(closing) ~= nil end,
    }
  end
  local comment
  indent, comment = line:match("^([ \t]*)<!%-%-(.*)$")
  if not indent or comment:find("-->", 1, true) then return nil end
  return {
    indent = indent,
    words = words_of(comment:match("^%s*(.-)%s*$")),
    hidden = true,
    closes = function(inner) return inner:find("-->", 1, true) ~= nil end,
  }
end

local function unindented(line, indent)
  if line:sub(1, #indent) == indent then return line:sub(#indent + 1) end
  return line:match("^[ \t]*(.*)$")
end

-- Reads a text: {lines =, ends =, blocks =, problems =}. A block has the numbers of its
-- first and last line, `line` (of what opens it), its lines without indent, its tags as
-- fields, and `closes`, which tells whether a line would end it. A problem has line, text.
function markdown.read(text)
  local lines, ends = split(text)
  local found = {lines = lines, ends = ends, blocks = {}, problems = {}}
  local open, block
  for number, line in ipairs(lines) do
    if not open then
      open = opening(line)
      if open and open.words[1] == "repl" then
        block = {line = number, first = number + 1, indent = open.indent, lines = {},
          hidden = open.hidden, closes = open.closes}
        local problem = take_tags(block, open.words)
        if problem then found.problems[#found.problems + 1] = {line = number, text = problem} end
      end
    elseif open.closes(line) then
      if block then
        block.last = number - 1
        found.blocks[#found.blocks + 1] = block
      end
      open, block = nil, nil
    elseif block then
      block.lines[#block.lines + 1] = unindented(line, block.indent)
    end
  end
  if block then
    found.problems[#found.problems + 1] = {line = block.line, text = "this block is not closed"}
  end
  return found
end

return markdown
