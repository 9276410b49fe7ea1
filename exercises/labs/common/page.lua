-- page.lua: pieces of a report in Markdown. Every number on it is of the run that wrote it.
--
--   page.rows(lines, heads, cells)     a table; a head that starts with ">" stands on the right
--   page.machine()                     processor, date, version, in one line
--   page.questions(lines, questions, program)   a heading and an empty place for each answer
--   page.unanswered(text, questions)   what a report that was handed in still lacks, a list
--
-- A report is handed in with an answer below each question. Whether it is a good one is for a
-- person to say; that there is one can be checked here.

local tarn = require "tarn"

local page = {}

local PLACE = "*Your answer:*"
local FEW = 5 -- words; less is no sentence

function page.rows(lines, heads, cells)
  local titles, rules = {}, {}
  for c, head in ipairs(heads) do
    titles[c], rules[c] = head:gsub("^>", ""), head:find("^>") and "---:" or "---"
  end
  local function add(row) lines[#lines + 1] = "| " .. table.concat(row, " | ") .. " |" end
  add(titles)
  lines[#lines + 1] = "|" .. table.concat(rules, "|") .. "|"
  for _, row in ipairs(cells) do add(row) end
  lines[#lines + 1] = ""
end

local function processor()
  local file = io.open("/proc/cpuinfo")
  if not file then return "unknown" end
  local text <close> = file
  local list = text:read("a")
  local model, count = list:match("model name%s*:%s*([^\n]+)"), 0
  for _ in list:gmatch("processor%s*:") do count = count + 1 end
  return ("%s, %d processor%s"):format(model or "unknown", count, count == 1 and "" or "s")
end

function page.machine()
  return ("Machine: %s. Date: %s. tarn %s."):format(processor(), os.date("%Y-%m-%d"),
    tarn.version)
end

local function heading(number, question)
  return ("### Question %d. %s"):format(number, question)
end

function page.questions(lines, questions, program)
  lines[#lines + 1] = "## Questions\n"
  lines[#lines + 1] = "Answer below each, in whole sentences, with numbers of " ..
    ("the tables above. `tarn %s.lua --check=FILE` tells what is missing.\n"):format(program)
  for number, question in ipairs(questions) do
    lines[#lines + 1] = heading(number, question) .. "\n\n" .. PLACE .. "\n"
  end
end

-- The words between the heading of a question and the next heading, without the place for them.
local function answer_words(text, start)
  local answer = text:sub(start):gsub("\n#.*", "")
  local place, stop = answer:find(PLACE, 1, true)
  if place then answer = answer:sub(1, place - 1) .. answer:sub(stop + 1) end
  return select(2, answer:gsub("%S+", ""))
end

function page.unanswered(text, questions)
  local lacks = {}
  for number, question in ipairs(questions) do
    local _, stop = text:find("\n" .. heading(number, question) .. "\n", 1, true)
    if not stop then
      lacks[#lacks + 1] = ("question %d is not in the report: %s"):format(number, question)
    elseif answer_words(text, stop) < FEW then
      lacks[#lacks + 1] = ("question %d has no answer: %s"):format(number, question)
    end
  end
  return lacks
end

return page
