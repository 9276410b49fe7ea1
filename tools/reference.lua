-- reference.lua: the entries of help() as a chapter of the book and as pages of man.
--
--   tarn tools/reference.lua markdown    all of them; examples are blocks for --doctest
--   tarn tools/reference.lua functions   tarn-functions(7): the names in Lua
--   tarn tools/reference.lua library     libtarn(3): the functions in C
--
-- Run by the build, with the program that it has just made.

local names = require "tarn.names"
local help = require "tarn.help"
local entry = require "tarn.entry"

local labels = {"shapes", "math", "cost", "errors", "aliasing", "note", "options"}
local is_code = {shapes = true, math = true, cost = true}

-- ---- what there is, in order ----------------------------------------------------------

-- Topics with their entries; the feature maps follow the function that has them.
local function topics()
  local list = {}
  for i, topic in ipairs(names.topics) do
    list[i] = {title = topic.title}
    table.move(topic, 1, #topic, 1, list[i])
    if topic[1].key == "phi" then
      for _, map in ipairs(help.maps) do table.insert(list[i], help.with_example(map)) end
    end
  end
  return list
end

-- The sections of tarn.h. Functions that share a comment share an entry, with all calls.
local function sections()
  local list, group = {}, nil
  for _, e in ipairs(names.in_c) do
    if not list[#list] or list[#list].title ~= e.section then list[#list + 1] = {title = e.section} end
    if group and group.place == e.place then
      group.calls[#group.calls + 1] = e.signature
    else
      group = setmetatable({calls = {e.signature}}, {__index = e})
      table.insert(list[#list], group)
    end
  end
  return list
end

-- ---- Markdown --------------------------------------------------------------------------

local markdown = {}

-- What stands between backticks is code and stays it.
local function escape_markdown(text)
  local parts, code = {}, false
  for part in (text .. "`"):gmatch("([^`]*)`") do
    table.insert(parts, code and "`" .. part .. "`" or (part:gsub("[\\*_<>%[%]|^~#]", "\\%0")))
    code = not code
  end
  return table.concat(parts)
end

function markdown.label(label, text)
  if label == "options" then
    print("- *options*:")
    for line in text:gmatch("[^\n]+") do
      local name, words = line:match("^(%S+)%s*(.*)$")
      print(("    - `%s`: %s"):format(name, escape_markdown(words)))
    end
  else
    print(("- *%s*: %s"):format(label, is_code[label] and "`" .. text:gsub("`", "") .. "`" or escape_markdown(text)))
  end
end

function markdown.chapter(chapter)
  print(("- @ch:%s: %s"):format(chapter.id, escape_markdown(chapter.title)))
end

-- Names, each to be a link.
function markdown.see(text)
  print("- *see*: " .. text:gsub("[^,%s]+", "`%0`"))
end

function markdown.example(e)
  local tags = e.tags and "{.repl ." .. e.tags:gsub("%s+", " .") .. "}" or "repl"
  print(("```%s\n%s\n```\n"):format(tags, e.example))
end

-- A call on lines of at most 80 columns, broken behind commas between its arguments.
local function folded(call)
  local arguments, result = call:match("^(.-)( %->.*)$")
  local pieces, lines = {}, {""}
  for piece in (arguments or call):gmatch("[^,]+,? ?") do table.insert(pieces, piece) end
  pieces[#pieces] = pieces[#pieces] .. (result or "")
  for _, piece in ipairs(pieces) do
    if #lines[#lines] + #piece > 80 then table.insert(lines, "    ") end
    lines[#lines] = lines[#lines] .. piece
  end
  return table.concat(lines, "\n"):gsub(" +\n", "\n")
end

function markdown.entry(e)
  print(("### %s\n"):format(escape_markdown(e.key)))
  if e.calls then
    print "```c"
    for _, call in ipairs(e.calls) do print((folded(call .. ";"))) end
    print "```\n"
  elseif not e.about then
    print("    " .. folded(entry.call(e)):gsub("\n", "\n    ") .. "\n")
  end
  print(escape_markdown(e.sentence) .. "\n")
  if e.about then print(escape_markdown(e.about) .. "\n") end
  for _, label in ipairs(labels) do
    if e[label] then markdown.label(label, e[label]) end
  end
  if e.chapter then markdown.chapter(e.chapter) end
  if e.see then markdown.see(e.see) end
  print()
  if e.example then markdown.example(e) end
end

local function write_markdown(title, list)
  print("# " .. title .. "\n")
  for _, topic in ipairs(list) do
    print("## " .. topic.title .. "\n")
    for _, e in ipairs(topic) do markdown.entry(e) end
  end
end

-- ---- man -------------------------------------------------------------------------------

local man = {}

local function escape_man(text)
  text = text:gsub("\\", "\\e"):gsub("%-", "\\-"):gsub("%^", "\\(ha"):gsub("~", "\\(ti")
  text = text:gsub("'", "\\(aq"):gsub("`", "\\(ga")
  return (text:gsub("^%.", "\\&."):gsub("\n%.", "\n\\&."))
end

-- A paragraph with a label before it.
local function tagged(label, text) print((".TP 10\n.I %s\n%s"):format(label, escape_man(text))) end

function man.options(text)
  print(".TP 10\n.I options")
  for line in text:gmatch("[^\n]+") do
    local name, words = line:match("^(%S+)%s*(.*)$")
    print(("%s: %s\n.br"):format(escape_man(name), escape_man(words)))
  end
end

function man.entry(e)
  print(".SS " .. escape_man(e.key))
  if not e.about then
    for _, call in ipairs(e.calls or {entry.call(e)}) do print(".B \"" ..
      escape_man(call):gsub('"', "\\(dq") .. "\"\n.br") end
  end
  print(escape_man(e.sentence))
  if e.about then print(".PP\n" .. escape_man(e.about)) end
  for _, label in ipairs(labels) do
    if e[label] and label == "options" then man.options(e.options)
    elseif e[label] then tagged(label, e[label]) end
  end
  if e.example then print(".PP\n.RS 10\n.EX\n" .. escape_man(e.example) .. "\n.EE\n.RE") end
  if e.chapter then tagged("chapter", entry.chapter(e.chapter)) end
  if e.see then tagged("see", e.see) end
end

-- A whole page: its head, some words, the entries, where to go on.
local function write_man(page, list)
  print(('.\\" Written by tools/reference.lua from the comments of the sources.\n' ..
    '.TH %s %s "" "tarn %s" "Transformers are RNNs"\n.nr HY 0\n.nh\n.ad l\n' ..
    ".SH NAME\n%s \\- %s\n%s"):format(escape_man(page.name:upper()), page.section, tarn.version,
    escape_man(page.name), escape_man(page.sentence), page.introduction))
  for _, topic in ipairs(list) do
    print(".SH " .. escape_man(topic.title:upper()))
    for _, e in ipairs(topic) do man.entry(e) end
  end
  print(".SH SEE ALSO\n" .. page.see)
end

-- ---- the three texts -------------------------------------------------------------------

local texts = {}

function texts.markdown()
  print("# Reference {#reference}\n")
  write_markdown("Functions at the prompt", topics())
  write_markdown("Functions of the library in C", sections())
end

function texts.functions()
  write_man({
    name = "tarn-functions", section = 7, sentence = "functions at the prompt of tarn",
    introduction = ".SH DESCRIPTION\nWhat the prompt and scripts of\n.BR tarn (1)\n" ..
      "can call, by topic. At the prompt\n.B ?name\nshows one entry and\n.B apropos(\\(dqtext\\(dq)\n" ..
      "looks into all of them.",
    see = ".BR tarn (1),\n.BR libtarn (3)",
  }, topics())
end

function texts.library()
  write_man({
    name = "libtarn", section = 3, sentence = "linear attention in four stages, as a C library",
    introduction = ".SH SYNOPSIS\n.B #include <tarn.h>\n.PP\n" ..
      ".BI \"cc \" example.c \" $(pkg\\-config \\-\\-cflags \\-\\-libs tarn)\"\n" ..
      ".SH DESCRIPTION\nFunctions that return a\n.B tarn_status\ngive\n.B TARN_OK\nor an error whose " ..
      "message\n.B tarn_error\\c\n(ctx) gives. The header is the manual, in reading order; here " ..
      "is what it says of each function.",
    see = ".BR tarn (1),\n.BR tarn\\-functions (7)",
  }, sections())
end

local write = texts[arg[1]]
if not write then
  io.stderr:write("reference.lua: expected markdown, functions or library\n")
  os.exit(2)
end
write()
