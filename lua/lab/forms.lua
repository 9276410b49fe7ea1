-- forms.lua: what tarn's own functions earn as an answer to an exercise in Lua.
--
--   forms.points(exercise)   the points, and the calls that earn them
--
-- A learner may hand his arguments to prefix() and be done, unless the manifest takes it away
-- (`without`) or asks for something else. So every call below is tried on every case: a, b, c and
-- d are the tensors among the arguments, in their order, x is the first number, or 0. A case is
-- earned if one of the calls is right.

local run = require "tarn.lab.run"
local files = require "tarn.lab.files"
local system = require "tarn.lab.system"

local forms = {}

local CALLS = {
  "sim(a, b, c)", "sim(a, b, c, {causal = true})", "sim(a, b, c, {causal = true, eps = x})",
  "assoc(a, b, c)", "assoc(a, b, c, {eps = x})", "assoc(a, b, c, {phi = 'identity', eps = x})",
  "prefix(a, b, c)", "prefix(a, b, c, {eps = x})", "prefix(a, b, c, {phi = 'identity', eps = x})",
  "rnn({D = a.shape[a:rank()], M = c.shape[c:rank()]}):run(a, b, c)",
  "kv({D = a.shape[a:rank()], M = c.shape[c:rank()]}):run(a, b, c)",
  "sim_grad(a, b, c, d)", "assoc_grad(a, b, c, d, {eps = x})",
  "prefix_grad(a, b, c, d, {eps = x})", "a:softmax(a:rank())", "a:softmax(a:rank()):mm(b)",
  "a:cumsum(1)", "b:cumsum(1)", "phi.elu1(a)", "a",
}

local HEAD = [[
local function given(...)
  local tensors, number = {}, 0
  for i = select("#", ...), 1, -1 do
    local value = select(i, ...)
    if type(value) == "userdata" then table.insert(tensors, 1, value) end
    if type(value) == "number" then number = value end
  end
  return number, table.unpack(tensors)
end
]]

-- A learner's file with a function for each call, named by its place in the list.
local function answer()
  local lines = {HEAD, "return {"}
  for i, call in ipairs(CALLS) do
    lines[#lines + 1] = ("[\"%d\"] = function(...) local x, a, b, c, d = given(...) return %s end,")
      :format(i, call)
  end
  lines[#lines + 1] = "}\n"
  return table.concat(lines, "\n")
end

-- The exercise with each case once for each call.
local function tried(exercise)
  local cases = {}
  for _, case in ipairs(exercise.cases) do
    for i, call in ipairs(CALLS) do
      cases[#cases + 1] = setmetatable({name = case.name .. " by " .. call, entry = tostring(i)},
        {__index = case})
    end
  end
  return setmetatable({cases = cases}, {__index = exercise})
end

function forms.points(exercise)
  local folder = system.temporary("tarn-forms")
  local guard <close> = system.guard(folder)
  local path = files.join(folder, exercise.file)
  files.write("author", path, answer())
  local result = run.check(tried(exercise), path, {})
  local points, calls = 0, {}
  for i, case in ipairs(exercise.cases) do
    for j, call in ipairs(CALLS) do
      if result.cases[(i - 1) * #CALLS + j].ok then
        points = points + case.points
        calls[#calls + 1] = call
        break
      end
    end
  end
  return points, calls
end

return forms
