-- transcript.lua: reading transcripts, Markdown and outputs: what fuzzing has found out,
-- and what differences are made of.

local here = arg[0]:match("^.*/")
local tap = dofile(here .. "tap.lua")
local promises = dofile(here .. "../fuzz/promises.lua")
local transcript = require "tarn.transcript"
local markdown = require "tarn.markdown"
local compare = require "tarn.compare"

-- ---- inputs -----------------------------------------------------------------------------

tap.test("a transcript gives its inputs, without prompts and outputs", function()
  tap.is(transcript.inputs("> x = 1\n> x\n1\n> for i = 1, 2 do\n>>   f(i)\n>> end\n>> no\n>\n"),
    {"x = 1", "x", "for i = 1, 2 do\n  f(i)\nend\nno"})
end)
tap.test("below an output >> is no prompt", function()
  tap.is(transcript.inputs("> x\n1\n>> 2\n"), {"x"})
end)
tap.test("it may be indented, end in \\r\\n, and have blank lines before it", function()
  tap.is(transcript.inputs("\r\n\n  > x\r\n  1\r\n  > y"), {"x", "y"})
end)
tap.test("a prompt alone has no inputs", function()
  tap.is(transcript.inputs(">"), {})
  tap.is(transcript.inputs("> \n"), {})
end)
tap.test("what does not begin with a prompt is no transcript", function()
  for _, text in ipairs {"x > 1", "x\n> 1", "", "\n", ">1", ">> x", ">= 1", "-- > x"} do
    tap.is(transcript.inputs(text), nil)
  end
end)

-- ---- blocks -----------------------------------------------------------------------------

-- The lines of the blocks of a text.
local function blocks_of(text)
  local found = {}
  for i, block in ipairs(markdown.read(text).blocks) do found[i] = block.lines end
  return found
end

tap.test("a fence is closed by one as long, of the same sign", function()
  tap.is(blocks_of("````repl\n> 1\n```\n~~~~\n`````\n"), {{"> 1", "```", "~~~~"}})
  tap.is(blocks_of("~~~repl\n> 1\n```\n~~~ \n"), {{"> 1", "```"}})
end)
tap.test("a closing fence has nothing behind it", function()
  tap.is(blocks_of("```repl\n> 1\n``` x\n```\n"), {{"> 1", "``` x"}})
end)
tap.test("`` code in a line is no fence", function()
  tap.is(blocks_of("```repl``` is code\n> 1\n```\n"), {})
end)
tap.test("other names are other blocks", function()
  tap.is(blocks_of("```replica\n> 1\n```\n```{.lua .repl}\n> 1\n```\n```\n> 1\n```\n"), {})
end)
tap.test("a comment on one line is a comment", function()
  tap.is(blocks_of("<!-- repl is a word -->\n```repl\n> 1\n```\n"), {{"> 1"}})
end)
tap.test("tags are read, in both ways of writing them", function()
  for _, info in ipairs {"repl gpu slow tol=0.5", '{.repl .gpu #id .slow tol="0.5"}'} do
    local block = markdown.read("```" .. info .. "\n```\n").blocks[1]
    tap.is({block.gpu, block.slow, block.tolerance, block.hidden}, {true, true, 0.5})
  end
end)

-- ---- outputs ----------------------------------------------------------------------------

local function same(a, b) return compare.same({a}, {b}) end

tap.test("numbers are compared as numbers, names as text", function()
  for _, pair in ipairs {{"1.00001", "1"}, {"x=0.5", "x=0.50001"}, {"[1e3]", "[1000.0]"},
    {"007", "7"}, {"+inf", "inf"}, {"a-1.0", "a-1.00001"}, {"25,600 bytes", "25,600 bytes"}} do
    assert(same(pair[1], pair[2]) and same(pair[2], pair[1]), pair[1])
  end
  for _, pair in ipairs {{"1.001", "1"}, {"v1", "v2"}, {"0x10", "0x11"}, {"1", "2"}, {"", "1"},
    {"a1.5", "a1.50001"}, {"-nan", "-inf"}, {"information", "nanformation"}, {"1 2", "12"}} do
    assert(not same(pair[1], pair[2]) and not same(pair[2], pair[1]), pair[1])
  end
end)
tap.test("... stands for any text, also for none", function()
  for _, pair in ipairs {{"a...", "a"}, {"...b", "aab"}, {"a...b...c", "abbbc"}, {"...", ""},
    {"1.5...", "1.52"}, {"...9", "1.9"}, {"x ... y", "x 1 y"}} do
    assert(same(pair[1], pair[2]), pair[1])
  end
  for _, pair in ipairs {{"a...b", "ba"}, {"a...b", "abc"}, {"...ab", "b"}} do
    assert(not same(pair[1], pair[2]), pair[1])
  end
end)

-- What changes says, as lines "-a", "+b", " c".
local function changes(expected, got)
  local lines = {}
  for i, change in ipairs(compare.changes(expected, got)) do
    lines[i] = (change.same and " " or change.new and "+" or "-") ..
      (change.same or change.new or change.missing)
  end
  return lines
end

tap.test("of two outputs as much as possible stays", function()
  tap.is(changes({"a", "b", "c"}, {"a", "x", "c"}), {" a", "-b", "+x", " c"})
  tap.is(changes({"a", "c"}, {"a", "b", "c"}), {" a", "+b", " c"})
  tap.is(changes({"a", "...", "z"}, {"a", "b", "c", "y"}), {" a", " ...", "-z", "+y"})
  tap.is(changes({"0.5", "1"}, {"0.500001", "2"}), {" 0.5", "-1", "+2"})
  tap.is(changes({}, {"a"}), {"+a"})
  tap.is(changes({"a", ""}, {}), {"-a"})
end)
tap.test("outputs too long to be aligned are exchanged as wholes", function()
  local long = {}
  for i = 1, 1001 do long[i] = "line" end
  local list = compare.changes(long, table.move(long, 1, 1001, 2, {"first"}))
  tap.is({#list, list[1].missing, list[1002].new}, {2003, "line", "first"})
end)

-- ---- what fuzzing has found out ---------------------------------------------------------

for _, name in ipairs {"doctest", "paste"} do
  tap.test("the corpus of fuzz_" .. name .. " keeps its promises", function()
    local folder = here .. "../fuzz/corpus/" .. name
    local count = 0
    local list <close> = assert(io.popen("ls '" .. folder .. "'"))
    for file in list:lines() do
      local input <close> = assert(io.open(folder .. "/" .. file, "rb"))
      promises[name](input:read("a"))
      count = count + 1
    end
    assert(count > 20, count)
  end)
end

tap.done()
