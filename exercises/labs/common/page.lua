-- page.lua: pieces of a report in Markdown. Every number on it is of the run that wrote it.
--
--   page.rows(lines, heads, cells)     a table; a head that starts with ">" stands on the right
--   page.machine()                     processor, date, version, in one line
--   page.ask(lines, kind, questions)   a heading and an empty place for each answer
--   page.unanswered(text, kind, questions)   what a report that was handed in lacks, a list
--
-- A report is handed in with an answer below each question. Whether it is a good one is for a
-- person to say; that there is one can be checked here. Kinds are page.prediction, for which a
-- word or a number will do, and page.question.

local tarn = require "tarn"

local page = {}

page.prediction = {name = "Prediction", place = "*Your guess:*", words = 1}
page.question = {name = "Question", place = "*Your answer:*", words = 5} -- less is no sentence

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

local function heading(kind, number, question)
  return ("### %s %d. %s"):format(kind.name, number, question)
end

function page.ask(lines, kind, questions)
  for number, question in ipairs(questions) do
    lines[#lines + 1] = heading(kind, number, question) .. "\n\n" .. kind.place .. "\n"
  end
end

-- The words between the heading of a question and the next heading, without the place for them.
local function answer_words(text, kind, start)
  local answer = text:sub(start):gsub("\n#.*", "")
  local place, stop = answer:find(kind.place, 1, true)
  if place then answer = answer:sub(1, place - 1) .. answer:sub(stop + 1) end
  return select(2, answer:gsub("%S+", ""))
end

function page.unanswered(text, kind, questions)
  local lacks = {}
  for number, question in ipairs(questions) do
    local _, stop = text:find("\n" .. heading(kind, number, question) .. "\n", 1, true)
    local what = not stop and "is not in the report" or
      answer_words(text, kind, stop) < kind.words and "has no answer"
    if what then
      lacks[#lacks + 1] = ("%s %d %s: %s"):format(kind.name:lower(), number, what, question)
    end
  end
  return lacks
end

return page
