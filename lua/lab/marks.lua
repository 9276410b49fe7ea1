-- marks.lua: the tables that grade writes, grades.csv and grades.md, and the marks in them that
-- were given by hand.
--
--   marks.earlier(folder)            the rows of the grades.csv that is there, or an error where
--                                    that is another table
--   marks.write(folder, rows, earlier)   writes both, and tells the sums
--
-- What stands in the column `mark` is taken over; a row with a mark that is not among the new
-- ones, of a student who has left, say, stays as it was.

local tarn = require "tarn"
local files = require "tarn.lab.files"
local page = require "tarn.lab.page"
local sheet = require "tarn.lab.sheet"
local report = require "tarn.report"

local marks = {}

local columns = {"student", "exercise", "tarn", "hash", "seed", "hints", "points", "max", "partial",
  "late", "score", "mark", "note"}

-- Those that one reads; the rest is for programs.
local shown = {"student", "exercise", "points", "max", "late", "score", "mark", "note"}

function marks.earlier(folder)
  local path = files.join(folder, "grades.csv")
  local text = files.read(path)
  local rows = text and sheet.parse(text) or {}
  for _, row in ipairs(rows) do
    if not (row.student and row.exercise and row.mark) then
      error(("grade: %s is there, and is no table of grade's; expected another --out")
        :format(path), 0)
    end
  end
  return rows
end

local function key(row) return row.student .. "\0" .. row.exercise end

local function take_over(rows, earlier)
  local marked, there = {}, {}
  for _, row in ipairs(earlier) do marked[key(row)] = row.mark end
  for _, row in ipairs(rows) do
    there[key(row)] = true
    row.mark = marked[key(row)] or ""
  end
  for _, row in ipairs(earlier) do
    if row.mark ~= "" and not there[key(row)] then rows[#rows + 1] = row end
  end
end

-- The sums of each student: what is in `rows` must be new, with numbers.
local function totals(rows)
  local list, by_name = {}, {}
  for _, row in ipairs(rows) do
    local total = by_name[row.student]
    if not total then
      total = {student = row.student, points = 0, max = 0, score = 0}
      by_name[row.student], list[#list + 1] = total, total
    end
    for _, column in ipairs {"points", "max", "score"} do
      total[column] = total[column] + row[column]
    end
  end
  return list
end

local function markdown(rows, sums)
  return ("# Points\n\ntarn %s; grades.csv has more columns.\n\n"):format(tarn.version) ..
    sheet.markdown({"student", "points", "max", "score"}, sums) .. "\n" ..
    sheet.markdown(shown, rows)
end

local function tell(sums, csv, md)
  local lines = {}
  for i, sum in ipairs(sums) do
    lines[i] = {page.showable(sum.student)}
    for c, column in ipairs {"points", "max", "score"} do
      lines[i][c + 1] = ("%.6g"):format(sum[column])
    end
  end
  io.write(report.layout({"student", ">points", ">max", ">score"}, lines), "\n",
    "in ", csv, " and ", md, "\n")
end

function marks.write(folder, rows, earlier)
  local csv, md = files.join(folder, "grades.csv"), files.join(folder, "grades.md")
  local sums = totals(rows)
  take_over(rows, earlier)
  files.write("grade", csv, sheet.csv(columns, rows))
  files.write("grade", md, markdown(rows, sums))
  tell(sums, csv, md)
end

return marks
