-- lab_run.lua: what the lab's runner says of right and wrong answers.
local folder = arg[0]:match("^.*/")
local tap = dofile(folder .. "tap.lua")
local test, is = tap.test, tap.is
local system = require "tarn.lab.system"
local run = require "tarn.lab.run"
local forms = require "tarn.lab.forms"
local tarn = require "tarn"

local scratch = os.getenv("SCRATCH") or assert(system.temporary("lab-run-test"))

local function has(text, piece)
  if not tostring(text):find(piece, 1, true) then
    error(("%q is not in: %s"):format(piece, tostring(text)), 2)
  end
end

local written = 0
-- A learner's file with this text.
local function answer(text, extension)
  written = written + 1
  local path = ("%s/answer %d.%s"):format(scratch, written, extension)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  return path
end

-- ---- Lua ----------------------------------------------------------------------------------

local function loops(N)
  return function(draw, scale) return {x = draw.randn(N * scale, 4), a = 3} end
end

local scale_rows = {name = "scale-rows", language = "lua", parameters = {"x", "a"},
  results = {"y"}, spec = function(inputs) return {y = inputs.x * inputs.a} end,
  without = {"cumsum"},
  cases = {
    {name = "three rows", points = 2, equation = "eq 1", inputs = loops(3)},
    {name = "linear", points = 3, inputs = loops(30), limit = {growth = 2.2}},
  }}

local function check_lua(text, opt) return run.check(scale_rows, answer(text, "lua"), opt) end

test("a right answer in Lua gets all points", function()
  local result = check_lua "return function(x, a) return x * a end"
  is({result.points, result.max}, {5, 5})
end)

test("a wrong number is told with its place, neighbours and what was expected", function()
  local case = check_lua("return function(x, a) local y = x * a y[2][3] = 7 return y end").cases[1]
  is({case.ok, case.points, case.equation, case.index, case.got}, {false, 0, "eq 1", {2, 3}, 7})
  has(case.message, "y[2, 3] is 7, expected ")
  is(case.near.rows, {1, 2, 3})
  is(case.near.columns, {2, 3, 4})
  is(case.near.got[2][2], 7)
end)

test("numbers that differ are written so that they differ", function()
  local strict = setmetatable({tol = {k = 1}}, {__index = scale_rows})
  local file = answer("return function(x, a) return x * (a + 2e-6) end", "lua")
  local case = run.check(strict, file).cases[1]
  local got, expected = case.message:match("is (%S+), expected (%S+)")
  is(got ~= expected, true)
end)

test("the first place that is wrong is told, and the one that is furthest off", function()
  local case = check_lua("return function(x, a)\n  local y = x * a\n  y[2][3] = 7\n" ..
    "  y[3][1] = 900\n  return y\nend").cases[1]
  is({case.index, case.got}, {{2, 3}, 7})
  has(case.message, "y[2, 3] is 7, expected ")
  has(case.message, "; furthest off is y[3, 1]: 900, expected ")
end)

test("what is asked of double is told in double, and float32 in between is noticed", function()
  local double = setmetatable({cases = {{name = "double", points = 1,
    inputs = function(draw) return {x = draw.randn(4, 3):to("float64") / 3, a = 3} end}}},
    {__index = scale_rows})
  local function message(text)
    return run.check(double, answer("return function(x, a) return " .. text .. " end", "lua"))
      .cases[1].message
  end
  is(message "x * a", nil)
  has(message '(x:to("float32") * a):to("float64")', ", expected ")
  has(message 'x:to("float32") * a', "; it is float32, the inputs are float64")
end)

test("numbers without a tensor are judged as the doubles that they are", function()
  local third = {name = "third", language = "lua", parameters = {"a"}, results = {"y"},
    spec = function(inputs) return {y = inputs.a / 3} end,
    cases = {{name = "one", points = 1, inputs = function() return {a = 1} end}}}
  is(run.check(third, answer("return function(a) return a / 3 end", "lua")).points, 1)
  is(run.check(third, answer("return function(a) return 0.3333333 end", "lua")).points, 0)
end)

test("an endless loop takes its time once, and what comes after it is still tried", function()
  local cases = {}
  for i, name in ipairs {"first", "endless", "third", "endless too", "fifth"} do
    cases[i] = {name = name, points = 1, inputs = function() return {i = i} end}
  end
  local loops = {name = "loops", language = "lua", parameters = {"i"}, results = {"y"},
    spec = function(inputs) return {y = inputs.i} end, cases = cases}
  local result = run.check(loops, answer("return function(i) while i % 2 == 0 do end return i end",
    "lua"), {limits = {seconds = 1}})
  is(result.points, 2)
  has(result.cases[2].message, "it does not end")
  has(result.cases[4].message, "after 'endless' only a little time was left")
  is(result.cases[5].message, "not run, for 'endless' and 'endless too' did not end")
end)

test("a file that is no Lua is told once, with its line", function()
  has(check_lua("return function(x, a)\n  return return x\nend").problem, ".lua:2: unexpected symbol")
end)

test("the same seed draws the same inputs, another others", function()
  local text = "return function(x, a) return x end"
  local function got(seed) return check_lua(text, {seed = seed}).cases[1].got end
  is(got(4), got(4))
  assert(got(4) ~= got(5))
end)

test("work that grows with the square of N is told apart from work that grows with N", function()
  local function text(inner)
    return "return function(x, a) local s = 0 for i = 1, #x do for j = 1, " .. inner ..
      " do for n = 1, 100 do s = s + 1 end end end return x * a end"
  end
  is(check_lua(text "1").points, 5)
  local case = check_lua(text "#x").cases[2]
  assert(not case.ok and case.costs.growth > 3)
  has(case.message, "for a sequence twice as long it does ")
end)

test("an error in one case leaves the others alone, and tells the line", function()
  local result = check_lua("return function(x, a)\n  if #x == 3 then error 'three' end\n" ..
    "  return x * a\nend")
  is(result.points, 3)
  has(result.cases[1].message, ".lua:2: three")
end)

test("what is taken away is not there, as a function or a method", function()
  for _, call in ipairs {"x:cumsum(1)", "tarn.cumsum(x, 1)"} do
    local case = check_lua("return function(x, a) return " .. call .. " end").cases[1]
    assert(not case.ok)
    has(case.message, "cumsum")
    has(case.message, ": this exercise is solved without it")
  end
end)

test("what tarn's own functions earn as an answer is known: nothing, once they are away", function()
  local sums = {name = "sums", file = "09-sums.lua", language = "lua", results = {"out"},
    parameters = {"q", "k", "v", "eps"}, spec = function(inputs)
      return {out = tarn.prefix(inputs.q, inputs.k, inputs.v, {eps = inputs.eps})}
    end,
    cases = {{name = "some", points = 3, inputs = function(draw)
      return {q = draw.randn(5, 3), k = draw.randn(5, 3), v = draw.randn(5, 2), eps = 0.5}
    end}}}
  is({forms.points(sums)}, {3, {"prefix(a, b, c, {eps = x})"}})
  sums.without = {"prefix"}
  is({forms.points(sums)}, {0, {}})
end)

test("a file that does not return a function fails with a sentence", function()
  has(check_lua("x = 1").cases[1].message, "returns nothing, expected a function")
  has(check_lua("return 1 +").cases[1].message, "unexpected symbol")
end)

-- ---- C ------------------------------------------------------------------------------------

-- The claims about a language, or one that they can't be checked here.
local function tests_of(language, claims)
  local there, why = require("tarn.lab.run_" .. language).compiler()
  if there then return claims() end
  tap.skip("exercises in " .. language, why)
end

local sum = {name = "sum-rows", language = "c", entry = "sum_rows", returns = "int",
  parameters = {"size_t N", "size_t D", {"const float *x", "N", "D"}, {"double *out", "N"},
    {"int *seen", "2"}},
  spec = function(inputs)
    local x, out = inputs.x:totable(), {}
    for i, row in ipairs(x) do
      out[i] = 0
      for _, entry in ipairs(row) do out[i] = out[i] + entry end
    end
    return {out = out, seen = {inputs.N, 8}, returned = inputs.D}
  end,
  tol = {k = 1e9}, -- the sum may be one of floats
  cases = {{name = "rows", points = 4, limit = {heap = 1000, growth = 2.1},
    inputs = function(draw, scale) return {x = draw.randn(5 * scale, 3), seen = {0, 7}} end}}}

local RIGHT = [[
#include <stdlib.h>
int sum_rows(size_t N, size_t D, const float *x, double *out, int *seen)
{
    for (size_t i = 0; i < N; i++) {
        out[i] = 0;
        for (size_t d = 0; d < D; d++) out[i] += x[i * D + d];
    }
    seen[0] = (int)N;
    seen[1]++;
    return (int)D;
}
]]

-- Checks the right answer with a piece replaced.
local function check_c(piece, other, opt)
  local at, last = RIGHT:find(piece or "", 1, true)
  local text = RIGHT:sub(1, at - 1) .. (other or "") .. RIGHT:sub(last + 1)
  return run.check(sum, answer(text, "c"), opt)
end

tests_of("c", function()

test("a word that is taken away is told with its line; comments and other words may have it",
  function()
    local function problem(word, text)
      local without = setmetatable({without = {word}}, {__index = sum})
      return run.check(without, answer(text, "c")).problem
    end
    has(problem("double", RIGHT), ".c:2: this exercise is solved without double")
    local hidden = "#define NUMBER long\n" .. RIGHT:gsub("size_t d = 0", "unsigned NUMBER d = 0")
    has(problem("long", hidden), ".c:7: this exercise is solved without long")
    is(problem("sum", RIGHT:gsub("seen%[1%]%+%+;", "%0 /* the sum */")), nil)
  end)

test("a right answer in C gets all points: inputs, results, what is changed, what is returned",
  function()
    local result = check_c()
    is({result.points, result.problem, result.cases[1].message}, {4})
  end)

test("an access beside an array is told with the line and the argument's name", function()
  local message = check_c("d < D", "d <= D").cases[1].message
  has(message, ".c:6: reads 4 bytes just past the end of x, which has 60 bytes")
end)

test("what a compiler says first is told with the learner's line and the caret", function()
  local problem = check_c("out[i] = 0;", "out[i] = 0").problem
  has(problem, "does not compile: ")
  has(problem, ".c:5:")
  has(problem, "^")
end)

test("a changed signature is an error in the learner's file", function()
  has(check_c("size_t N, size_t D", "size_t D, size_t N, int n").problem, "conflicting types")
end)

test("undefined behaviour is told in the sanitizer's words", function()
  has(check_c("seen[1]++", "seen[1] = seen[0] / (seen[1] - 7)").cases[1].message,
    ".c:9: division by zero")
end)

test("memory that nobody has written is not 0, however much of it there is", function()
  local block = check_c("out[i] = 0;", "volatile float *p = malloc(900000); out[i] = p[200000];")
  has(block.cases[1].message, "nan")
  local place = check_c("out[i] = 0;", "volatile float zero[3]; out[i] = 1e38f * zero[i % 3];").cases[1]
  is({place.kind, place.ok}, {"wrong", false})
end)

test("who saves work on longer inputs alone is not believed", function()
  has(check_c("size_t i = 0;", "size_t i = N > 5 ? N : 0;").cases[1].message,
    "for a sequence twice as long: out was not written")
end)

test("memory that is kept is told", function()
  local case = check_c("return (int)D;", "char *volatile p = malloc(50); p[0] = 1; return (int)D;")
  has(case.cases[1].message, "bytes that it took with malloc: free them")
end)

test("local variables are counted, so that they hide no memory", function()
  local limited = setmetatable({cases = {setmetatable({limit = {stack = 1000}},
    {__index = sum.cases[1]})}}, {__index = sum})
  local function message(count)
    local copy = ("float copy[%d]; for (size_t d = 0; d < D; d++) copy[d %% %d] = x[i * D + d];\n")
      :format(count, count) .. "        for (size_t d = 0; d < D; d++) out[i] += copy[d % 3];"
    local text = RIGHT:gsub("for %(size_t d[^\n]*;", function() return copy end)
    return run.check(limited, answer(text, "c")).cases[1].message
  end
  is(message(3), nil)
  has(message(400), "bytes of local variables, allowed are 1,000")
end)

test("memory is counted", function()
  local taken = "volatile char *p = malloc(5000); p[0] = 1; free((void *)p); return (int)D;"
  local case = check_c("return (int)D;", taken).cases[1]
  has(case.message, "bytes of memory at a time, allowed are 1,000")
end)

end)

-- ---- CUDA ---------------------------------------------------------------------------------

local columns = {name = "columns", language = "cuda", entry = "columns",
  parameters = {{"float *y", "N", "N"}, {"const float *x", "N", "N"}, "int N"},
  launch = function() return {grid = 1, block = {32, 32}} end,
  spec = function(inputs) return {y = inputs.x:t()} end,
  cases = {{name = "transposed", points = 3, limit = {shared = 1.0, global = 1.0},
    inputs = function(draw) return {x = draw.randn(32, 32)} end}}}

local TRANSPOSE = [[
__global__ void columns(float *y, const float *x, int N)
{
    SHARED(float, tile, [32][33]);
    const int i = threadIdx.y, j = threadIdx.x;
    tile[i][j] = x[i * N + j];
    __syncthreads();
    y[i * N + j] = tile[j][i];
}
]]

local function check_cuda(piece, other)
  local at, last = TRANSPOSE:find(piece or "", 1, true)
  local text = TRANSPOSE:sub(1, at - 1) .. (other or "") .. TRANSPOSE:sub(last + 1)
  return run.check(columns, answer(text, "cu"))
end

tests_of("cuda", function()
  test("a right kernel gets all points", function()
    local result = check_cuda()
    is({result.points, result.problem, result.cases[1].message}, {3})
  end)

  test("a missing barrier is told with its line", function()
    local message = check_cuda("__syncthreads();", "").cases[1].message
    has(message, ".cu:7: ")
  end)

  test("bank conflicts are counted, and the line is told", function()
    local message = check_cuda("[32][33]", "[32][32]").cases[1].message
    has(message, "times the least possible wavefronts of shared memory")
    has(message, ".cu:7")
  end)

  test("reads of neighbours that are far apart are counted", function()
    local message = check_cuda("x[i * N + j]", "x[j * N + i]").cases[1].message
    has(message, "y[")
    message = check_cuda("    tile[i][j] = x[i * N + j];\n    __syncthreads();\n" ..
      "    y[i * N + j] = tile[j][i];", "    y[i * N + j] = x[j * N + i];").cases[1].message
    has(message, "sectors of global memory")
  end)

  test("what is taken away does not compile, however it is spelt", function()
    local without = setmetatable({without = {"SHARED"}}, {__index = columns})
    local function problem(text) return run.check(without, answer(text, "cu")).problem end
    has(problem(TRANSPOSE), ".cu:3:5: this exercise is solved without SHARED")
    local pasted = "#define JOIN(a, b) a##b\n" .. TRANSPOSE:gsub("SHARED", "JOIN(SHA, RED)")
    has(problem(pasted), "this exercise is solved without SHARED")
    is(problem((TRANSPOSE:gsub("SHARED%(float, tile, (.-)%)", "__shared__ float tile%1"))), nil)
  end)

  test("an error of the compiler names the learner's line", function()
    local problem = check_cuda("int i = ", "int i ").problem
    has(problem, "does not compile: ")
    has(problem, ".cu:5:")
    assert(not problem:find("words.h", 1, true), problem)
  end)
end)

tap.done()
