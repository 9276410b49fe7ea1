-- doctest.lua: runs the transcripts in Markdown files again, and tells what has changed.
--
-- Each file has a session of its own, which its blocks share. What an input says is all
-- that it writes, then the first line of its error, if it ends in one. markdown.lua says
-- what a block is, transcript.lua what an input is, compare.lua what is the same.
--
-- What Lua alone can't do comes in as `tools` (src/repl/doctest.c):
--   open()             a session: session:run(input) -> output, error or nil, problem or nil
--   write(path, text)  -> true, or false and why not; all or nothing
--   gpu, emu           whether there is one, whether the emulated device is there

local markdown = require "tarn.markdown"
local transcript = require "tarn.transcript"
local compare = require "tarn.compare"

local open = io.open -- also in a restricted session

local doctest = {}

-- Of a difference so many lines are shown, and so many bytes of each.
local MOST_SHOWN, MOST_BYTES = 60, 400

-- ---- reading ----------------------------------------------------------------------------

-- Adds the inputs of a block to the document's; the numbers of lines become the file's.
local function add_items(document, block)
  local function problem(line, text)
    document.problems[#document.problems + 1] = {line = line, text = text}
  end
  local items, above = transcript.read(block.lines)
  if #items == 0 then
    return problem(block.line, "this block has no input, a line that begins with '> '")
  elseif above > 0 then
    return problem(block.first, "this stands above the first input of its block")
  end
  for _, item in ipairs(items) do
    item.block = block
    item.line = block.first + item.at - 1
    item.after = block.first + item.after - 1
    if item.input:find("\0", 1, true) then problem(item.line, "this input has a NUL byte") end
    document.items[#document.items + 1] = item
  end
end

-- Reads a Markdown text: {lines =, ends =, items =, problems =}. Beside what a transcript
-- gives, an item has its block and line; item.after is the last line of its input.
function doctest.read(text)
  local document = markdown.read(text)
  document.items = {}
  for _, block in ipairs(document.blocks) do add_items(document, block) end
  table.sort(document.problems, function(a, b) return a.line < b.line end)
  return document
end

-- ---- rewriting --------------------------------------------------------------------------

-- The lines that an output should have in the file, those that still match as they are.
local function corrected(item, got)
  local lines, last = {}, #item.output
  for _, change in ipairs(compare.changes(item.output, got, item.block.tolerance)) do
    lines[#lines + 1] = change.same or change.new
  end
  while last > 0 and not item.output[last]:find("%S") do
    lines[#lines + 1] = ""
    last = last - 1
  end
  return lines
end

-- The text of a document with other outputs: got[item] = lines. All else stays as it is.
function doctest.rewrite(document, got)
  local replaced, parts = {}, {}
  for item, lines in pairs(got) do replaced[item.after] = {item = item, lines = lines} end
  local number = 1
  while number <= #document.lines do
    parts[#parts + 1] = document.lines[number] .. document.ends[number]
    local new = replaced[number]
    if new then
      local item = new.item
      for _, line in ipairs(corrected(item, new.lines)) do
        line = compare.trimmed(line)
        if line ~= "" then line = item.block.indent .. line end
        parts[#parts + 1] = line .. document.ends[item.block.line]
      end
      number = number + #item.output
    end
    number = number + 1
  end
  return table.concat(parts)
end

-- True if the rewritten text has the same inputs, now with these outputs. An output that
-- looks like a prompt or closes its block would have made another text of it.
local function reads_back(document, text, got)
  local again = doctest.read(text)
  if #again.problems > 0 or #again.items ~= #document.items then return false end
  for i, item in ipairs(document.items) do
    local new = again.items[i]
    if new.input ~= item.input then return false end
    if got[item] and not compare.same(new.output, got[item], item.block.tolerance) then
      return false
    end
  end
  return true
end

-- ---- running ----------------------------------------------------------------------------

local function lines_of(text)
  local lines = {}
  if text ~= "" and text:sub(-1) ~= "\n" then text = text .. "\n" end
  for line in text:gmatch("([^\n]*)\n") do lines[#lines + 1] = (line:gsub("\r$", "")) end
  return lines
end

-- Shows an input and how what it said differs.
local function show_failure(path, item, got)
  local shown = {("%s:%d: %s"):format(path, item.line, item.input:match("^[^\n]*"))}
  local new = {}
  local function flush()
    table.move(new, 1, #new, #shown + 1, shown)
    new = {}
  end
  for _, change in ipairs(compare.changes(item.output, got, item.block.tolerance)) do
    if change.new then
      new[#new + 1] = "  + " .. change.new
    else
      if change.same then flush() end
      shown[#shown + 1] = (change.same and "    " or "  - ") .. (change.same or change.missing)
    end
  end
  flush()
  for i = 1, math.min(#shown, MOST_SHOWN) do
    if #shown[i] > MOST_BYTES then shown[i] = shown[i]:sub(1, MOST_BYTES) .. " (and more)" end
  end
  if #shown > MOST_SHOWN then
    shown[MOST_SHOWN + 1] = ("    (and %d lines more)"):format(#shown - MOST_SHOWN)
  end
  io.stdout:write(table.concat(shown, "\n", 1, math.min(#shown, MOST_SHOWN + 1)) .. "\n")
end

-- Why a block is left out: the name of a tag; nil if it is not.
local function reason_to_skip(block, run)
  if block.gpu and not run.tools.gpu then return "gpu" end
  if block.emu and not run.tools.emu then return "emu" end
  if block.slow and not run.slow then return "slow" end
end

-- Counts an error; what reading and writing say of a file has its name in it.
local function complain(run, path, line, text)
  run.errors = run.errors + 1
  io.stdout:flush()
  io.stderr:write(line and ("%s:%d: %s"):format(path, line, text) or text, "\n")
end

-- Runs one input and counts how it went. Gives the lines that it said if they are others.
local function run_item(run, session, path, item)
  local reason = reason_to_skip(item.block, run)
  if reason then
    run.skipped[reason] = run.skipped[reason] + 1
    return nil
  end
  local output, message, problem = session:run(item.input)
  if problem then return complain(run, path, item.line, problem) end
  local got = lines_of(output)
  got[#got + 1] = message
  if compare.same(item.output, got, item.block.tolerance) then
    run.passed = run.passed + 1
    return nil
  end
  run.failed = run.failed + 1
  if not run.fix then show_failure(path, item, got) end
  return got
end

-- Writes a file with the outputs that were got.
local function fix(run, path, document, got, first)
  if not first then return end
  local text = doctest.rewrite(document, got)
  if not reads_back(document, text, got) then
    return complain(run, path, first.line,
      "an output from here on has a line that begins with '> ' or would end its block")
  end
  local ok, why = run.tools.write(path, text)
  if not ok then return complain(run, nil, nil, why) end
  local count = 0
  for _ in pairs(got) do count = count + 1 end
  io.stdout:write(("%s:%d: %d output%s rewritten, this one first\n"):format(path, first.line, count,
    count == 1 and "" or "s"))
end

-- The bytes of a file; or nil and why not.
local function read_file(path)
  local file, why = open(path, "rb")
  if not file then return nil, why end
  local text
  text, why = file:read("a")
  file:close()
  return text, text == nil and path .. ": " .. why or nil
end

local function run_file(run, path)
  local text, why = read_file(path)
  if not text then return complain(run, nil, nil, why) end
  local document = doctest.read(text)
  for _, problem in ipairs(document.problems) do complain(run, path, problem.line, problem.text) end
  if #document.problems > 0 or #document.items == 0 then return end
  local session <close> = run.tools.open()
  local got, first = {}, nil
  for _, item in ipairs(document.items) do
    got[item] = run_item(run, session, path, item)
    first = first or got[item] and item
  end
  if run.fix then fix(run, path, document, got, first) end
end

-- The last line: "12 passed, 1 failed, 3 skipped (gpu: 2, slow: 1)".
local function summary(run)
  local gpu, slow, emu = run.skipped.gpu, run.skipped.slow, run.skipped.emu
  return ("%d passed, %d %s, %d skipped (gpu: %d, slow: %d%s)%s\n"):format(run.passed, run.failed,
    run.fix and "fixed" or "failed", gpu + slow + emu, gpu, slow,
    emu > 0 and ", emu: " .. emu or "",
    run.errors > 0 and (", %d error%s"):format(run.errors, run.errors == 1 and "" or "s") or "")
end

-- Runs files; opt: fix, slow. True if all outputs are as expected, or were made so.
function doctest.run(files, tools, opt)
  local run = {tools = tools, fix = opt.fix, slow = opt.slow, passed = 0, failed = 0, errors = 0,
    skipped = {gpu = 0, slow = 0, emu = 0}}
  for _, path in ipairs(files) do run_file(run, path) end
  io.stdout:write(summary(run))
  return run.errors == 0 and (run.fix or run.failed == 0)
end

return doctest
