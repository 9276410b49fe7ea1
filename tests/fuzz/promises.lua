-- promises.lua: what must hold of the readers of transcripts for any text whatever.
--
-- The fuzz programs (fuzz_lua.h) try texts that nobody chose, tests/lua/transcript.lua
-- those that were kept from them. Either way a broken promise is an error.

local transcript = require "tarn.transcript"
local compare = require "tarn.compare"
local doctest = require "tarn.doctest"

local promises = {}

-- An input with its prompts, as it was typed.
local function typed(input) return "> " .. input:gsub("\n", "\n>> ") end

-- Two lists of lines: what changes says makes one the other.
local function compare_keeps(expected, got)
  assert(compare.same(expected, expected), "an output is itself")
  local same = compare.same(expected, got)
  local changed, made = false, {}
  for _, change in ipairs(compare.changes(expected, got)) do
    changed = changed or change.same == nil
    made[#made + 1] = change.same or change.new
  end
  assert(same == not changed, "the same without changes, not the same with some")
  assert(compare.same(made, got), "the changes lead to what was got")
end

-- Gives each output another line, and sees that inputs stay and outputs are the new ones.
local function rewriting_keeps(document)
  local got = {}
  for i, item in ipairs(document.items) do
    if i % 2 == 1 then got[item] = {"other", "  line " .. i} end
  end
  local again = doctest.read(doctest.rewrite(document, got))
  assert(#again.items == #document.items, "no input is lost or made")
  for i, item in ipairs(document.items) do
    assert(again.items[i].input == item.input, "an input stays as it is")
    assert(compare.same(again.items[i].output, got[item] or item.output), "an output is there")
  end
end

-- The reader of Markdown, on bytes that may be a file.
function promises.doctest(bytes)
  local document = doctest.read(bytes)
  assert(doctest.rewrite(document, {}) == bytes, "a text that passes stays as it is")
  for _, problem in ipairs(document.problems) do
    assert(document.lines[problem.line] and problem.text, "a problem has a line of the file")
  end
  for _, item in ipairs(document.items) do
    local line = document.lines[item.line]
    assert(line:find(item.input:match("^[^\n]*"), 1, true), "an input is in its line")
  end
  if #document.problems == 0 then rewriting_keeps(document) end
  local first, second = document.items[1], document.items[2]
  if second then compare_keeps(first.output, second.output) end
end

-- The prompt, on a text that may have been pasted.
function promises.paste(bytes)
  local inputs = transcript.inputs(bytes)
  local begins = bytes:match("^%s*(.?)") == ">"
  assert(begins or not inputs, "what does not begin with a prompt is no transcript")
  if not inputs then return end
  local typed_again = {}
  for i, input in ipairs(inputs) do
    for line in input:gmatch("[^\n]+") do
      assert(bytes:find(line, 1, true), "an input is in the text")
    end
    typed_again[i] = typed(input)
  end
  if #inputs == 0 then return end
  local again = transcript.inputs(table.concat(typed_again, "\nsome output\n"))
  assert(#again == #inputs, "typed again there are as many inputs")
  for i, input in ipairs(inputs) do assert(again[i] == input, "typed again it is the same") end
end

return promises
