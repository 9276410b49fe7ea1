-- predict.lua: questions that ask for a prediction, to be answered in the file before the run.
--
--   predict.questions(exercise, indent)    the lines for the start
--   predict.unanswered(exercise, text)     the first question without an answer and what to do
--                                          about it, in words; or nil
--   predict.answers(exercise, text)        {{ask =, said =, answer =}, ...} to show after a run
--
-- In the learner's file a question is `//? Question` over one or more lines, then `//= ` with
-- the answer behind it (`--?` and `--=` in Lua). Answers give no points: what counts is to
-- have thought before looking. A question without a line `//=` of its own is not answered.

local predict = {}

local WIDTH = 76

local signs = {c = "//", cu = "//", lua = "--"}
local patterns = {c = "//", cu = "//", lua = "%-%-"}

-- Adds a question's words as lines that fit.
local function add(lines, indent, sign, text)
  local line = indent .. sign .. "?"
  for word in text:gmatch("%S+") do
    if #line + 1 + #word > WIDTH then
      lines[#lines + 1] = line
      line = indent .. sign .. "?"
    end
    line = line .. " " .. word
  end
  lines[#lines + 1] = line
end

function predict.questions(exercise, indent)
  local lines, sign = {}, signs[exercise.extension]
  for _, question in ipairs(exercise.predict or {}) do
    add(lines, indent, sign, question.ask)
    lines[#lines + 1] = indent .. sign .. "= "
  end
  return #lines > 0 and table.concat(lines, "\n") .. "\n" or ""
end

-- What stands behind the lines for answers, in their order.
local function said(exercise, text)
  local list = {}
  for line in (text .. "\n"):gmatch("(.-)\r?\n") do
    local answer = line:match("^%s*" .. patterns[exercise.extension] .. "=%s*(.-)%s*$")
    if answer then list[#list + 1] = answer end
  end
  return list
end

function predict.unanswered(exercise, text)
  local answers, sign = said(exercise, text), signs[exercise.extension] .. "="
  for i, question in ipairs(exercise.predict or {}) do
    if not answers[i] then
      return question.ask, ("answer first; there is no line for it yet, add '%s your answer'%s:")
        :format(sign, i > 1 and " below the others" or "")
    elseif answers[i] == "" then
      return question.ask, ("answer first, behind the line '%s':"):format(sign)
    end
  end
end

function predict.answers(exercise, text)
  local list, answers = {}, said(exercise, text)
  for i, question in ipairs(exercise.predict or {}) do
    list[i] = {ask = question.ask, said = answers[i] or "", answer = question.answer}
  end
  return list
end

return predict
