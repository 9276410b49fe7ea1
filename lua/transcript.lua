-- transcript.lua: what was typed at the prompt and what it answered, read back from text.
--
-- A line that begins with "> " is the first line of an input; lines with ">> " right below
-- it are its next ones. All else is output, up to the next "> ". So output that itself
-- begins with "> " can't be told from an input. A prompt with nothing behind may have lost
-- its blank.
--
-- Pasted text is a transcript if its first line that is not blank begins with "> ". No Lua
-- begins so: other text is left alone, whatever signs are in it.

local transcript = {}

-- What stands behind a prompt at the beginning of the line; nil without one.
local function behind(line, prompt)
  if line == prompt then return "" end
  if line:sub(1, #prompt + 1) == prompt .. " " then return line:sub(#prompt + 2) end
end

-- Reads a list of lines into items in their order: {input =, at =, output = {lines},
-- after =}. `at` is the index of the first line of the input, `after` that of its last
-- line, so its output begins at after + 1. Gives also the number of lines above it all.
function transcript.read(lines)
  local items, item, above = {}, nil, 0
  for i, line in ipairs(lines) do
    local first = behind(line, ">")
    local next_line = item and item.after == i - 1 and behind(line, ">>")
    if first then
      item = {input = first, at = i, after = i, output = {}}
      items[#items + 1] = item
    elseif next_line then
      item.input = item.input .. "\n" .. next_line
      item.after = i
    elseif item then
      item.output[#item.output + 1] = line
    else
      above = above + 1
    end
  end
  return items, above
end

-- The inputs of a text that was typed or pasted, if it is a transcript; else nil. It may
-- be indented as a whole.
function transcript.inputs(text)
  local indent = text:match("^%s-([ \t]*)>[ \r\n]") or text:match("^%s-([ \t]*)>$")
  if not indent then return nil end
  local lines = {}
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    line = line:gsub("\r+$", "")
    if line:sub(1, #indent) == indent then line = line:sub(#indent + 1) end
    lines[#lines + 1] = line
  end
  local inputs = {}
  for _, item in ipairs(transcript.read(lines)) do
    if item.input:find("%S") then inputs[#inputs + 1] = item.input end
  end
  return inputs
end

return transcript
