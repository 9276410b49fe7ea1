-- hist.lua: histograms in the terminal.
local folder = arg[0]:match("^.*/")
local tap, pictures = dofile(folder .. "tap.lua"), dofile(folder .. "pictures.lua")
local test, raises = tap.test, tap.raises
local drawn, ascii, is, has = pictures.drawn, pictures.ascii, pictures.is, pictures.has

test("whole numbers that are close together have a bin each", function()
  is(drawn("hist({0, 1, 1, 1, 2, 2})", 30), [[
[0, 1)  1  ██████▍
[1, 2)  3  ███████████████████
[2, 3)  2  ████████████▋
6 numbers from 0 to 2
]])
end)

test("without UTF-8 bars are of #; what is not 0 is seen", function()
  is(ascii("t = zeros(1001) t[1] = 1 hist(t)", 30), [[
[0, 1)  1000  ################
[1, 2)     1  #
1001 numbers from 0 to 1
]])
end)

test("edges are round numbers, and the largest number is in the last bin", function()
  is(drawn("hist({0, 0.1, 0.25, 0.5, 1})", 24), [[
[0.0, 0.2)  2  █████████
[0.2, 0.4)  1  ████▌
[0.4, 0.6)  1  ████▌
[0.6, 0.8)  0
[0.8, 1.0]  1  ████▌
5 numbers from 0 to 1
]])
end)

test("a number on an edge is in the bin that begins there, the double below it is not", function()
  for _, range in ipairs {"-1, 1", "1, 1.1", "0.1, 0.7"} do
    local lines = drawn(([[
      local lo, hi = %s
      local t = {}
      for i = 1, 9 do
        local edge = lo * (1 - i / 10) + hi * (i / 10)
        t[2 * i - 1], t[2 * i] = edge, edge - math.abs(edge) * 2^-52
        if edge == 0 then t[2 * i] = -5e-324 end
      end
      hist(t, {bins=10, range={lo, hi}})
    ]]):format(range))
    local counts = {}
    for i = 1, 10 do counts[i] = lines[i]:match("[%])]%s+(%d+)") end
    tap.is(table.concat(counts, " "), "1 2 2 2 2 2 2 2 2 1")
  end
end)

test("bins and range: what is outside is counted", function()
  is(drawn("hist({0, 1, 2, 3, 9}, {bins=2, range={0, 3}, width=24})", 80), [[
[0.00, 1.50)  2  ████████
[1.50, 3.00]  2  ████████
5 numbers from 0 to 9; left out: 1 out of range
]])
end)

test("NaN and infinities are counted apart", function()
  has(drawn("hist({1, 0/0, 1/0, -1/0})"), "1 number from 1 to 1; left out: 1 NaN, 2 infinite")
end)

test("log makes rare bins visible, title stands above", function()
  is(drawn("t = zeros(1000) t[1] = 1 hist(t, {log=true, title='rare', width=30})", 80), [[
rare
[0, 1)  999  █████████████████
[1, 2)    1  █▊
bars are as long as the logarithm of 1 + count
1000 numbers from 0 to 1
]])
end)

test("any shape; an expanded tensor of 10^9 elements is read once", function()
  has(drawn("hist(tensor(2):expand(1000, 1000, 1000))"), "1000000000 numbers from 2 to 2")
  has(drawn("hist(tensor({0, 1}):reshape(2, 1):expand(2, 500000000))"), "[1, 2)  500000000  █")
  has(drawn("hist(tensor(3))"), "1 number from 3 to 3")
  has(drawn("hist(rand(100, 300, 7, {seed=1}):transpose(1, 3))"), "210000 numbers")
end)

test("all of many numbers are counted", function()
  local total = 0
  for _, line in ipairs(drawn("hist(randn(300, 1000, {seed=1}))")) do
    total = total + (line:match("[%])]%s+(%d+)") or 0)
  end
  tap.is(math.tointeger(total), 300000)
end)

test("it fits windows of 40 and of 120 columns, and the extremes of doubles", function()
  for _, columns in ipairs {40, 120} do
    for _, draw in ipairs {drawn, ascii} do
      pictures.fits(draw("hist(randn(1000))", columns), columns)
      pictures.fits(draw("hist({1e-300, 1e300})", columns), columns)
      pictures.fits(draw("hist({-1.7e308, 1.7e308})", columns), columns)
      pictures.fits(draw("hist({5e-324, 0})", columns), columns)
      pictures.fits(draw("hist({1e-9, 2e-9}, {bins=3})", columns), columns)
    end
  end
end)

test("wrong calls say what was expected", function()
  raises("hist: t is \"a\", expected a tensor or a list of numbers", hist, "a")
  raises("hist: t: element [2] is a string, expected a number", hist, {1, "b"})
  raises("hist: t is nil, expected a tensor or a list of numbers", hist)
  raises("hist: there are no numbers to draw: 0 numbers", hist, zeros(0))
  raises("hist: there are no numbers to draw: 0 numbers; left out: 1 NaN", hist, {0 / 0})
  raises("hist: unknown option 'bin'; did you mean 'bins'?", hist, {1}, {bin = 3})
  raises("hist: bins is 0, expected a whole number from 1 to 1000", hist, {1}, {bins = 0})
  raises("hist: range is {1, 1}, expected {low, high}, two finite numbers in this order",
    hist, {1}, {range = {1, 1}})
end)

tap.done()
