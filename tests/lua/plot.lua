-- plot.lua: lines and points in the terminal.
local folder = arg[0]:match("^.*/")
local tap, pictures = dofile(folder .. "tap.lua"), dofile(folder .. "pictures.lua")
local test, raises = tap.test, tap.raises
local drawn, ascii, is, has = pictures.drawn, pictures.ascii, pictures.is, pictures.has

test("a list of numbers is a line over 1, 2, 3, ...", function()
  is(drawn("plot({1, 4, 9, 16}, {height=5})", 40), [[
15┤                                ⣀⡠⠤⠒⠉
  │                           ⣀⠤⠔⠒⠉
10┤                   ⢀⣀⡠⠤⠔⠒⠊⠉
 5┤           ⣀⣀⡠⠤⠔⠒⠊⠉⠁
  │⣀⣀⠤⠤⠤⠒⠒⠒⠉⠉⠉
  └┬───────────┬───────────┬───────────┬
   1           2           3           4
]])
end)

test("without UTF-8 the line is made of asterisks", function()
  is(ascii("plot({1, 4, 9, 16}, {height=5})", 40), [[
15+                                  ***
  |                            ******
10+                   *********
 5+       ************
  |*******
  ++-----------+-----------+-----------+
   1           2           3           4
]])
end)

local sim_and_assoc = [[
  local N = {256, 512, 1024, 2048}
  plot(N, {{1, 4, 16, 64}, {1, 2, 4, 8}}, {logx=true, logy=true, legend={"sim", "assoc"},
    height=6, title="time", xlabel="N", ylabel="ms"})
]]

test("several series carry their letters; log axes, legend and texts", function()
  is(drawn(sim_and_assoc, 40), [[
                   time
ms
  │                               ⢀⣀⠤⠔⠒a
  │                         ⢀⣀⠤⠔⠒⠉⠁
10┤                  ⢀⣀⡠⠤⠒⠒a⠁         ⢀b
  │           ⢀a⠤⠤⠒⠊⠉⠁    ⣀b⣀⡠⠤⠤⠔⠒⠒⠊⠉⠉⠁
  │     ⢀⣀⠤⠔⠒⠉⣁b⣀⠤⠤⠤⠒⠒⠒⠉⠉⠉
 1┤&⣤⠴⠶⠭⠓⠒⠒⠉⠉⠉
  └────────────┬───────────┬───────────┬
              500         1000      2000
                     N
a sim   b assoc   & several
]])
end)

test("the same without UTF-8", function()
  is(ascii(sim_and_assoc, 40), [[
                   time
ms
  |                                  aaa
  |                            aaaaaa
10+                   aaaaaaaaa   bbbbbb
  |          aaaaaaaaabbbbbbbbbbbb
  |    aaa&&&bbbbbbbbb
 1+&&&&bbb
  +------------+-----------+-----------+
              500         1000      2000
                     N
a sim   b assoc   & several
]])
end)

test("where series are the same, that is seen", function()
  local code = "plot({{1, 2, 3}, {1, 2, 3}, {1, 2, 1}}, {height=3})"
  is(drawn(code, 40), [[
3┤                         ⣀⣀⣀⡠⠤⠤⠤⠒⠒⠒⠒⠉&
2┤           ⢀⣀⣀⡠⠤⠤⠔⠒&⠒⠭⠭⠭⣉⣀⣀
1┤&⣀⠤⠤⠤⠒⠒⠒⠉⠉⠉⠁               ⠉⠉⠉⠒⠒⠒⠤⠤⠤⣀c
 └┬──────────────────┬─────────────────┬
  1                  2                 3
a series 1   b series 2   c series 3
& several
]])
end)

test("notes are folded to the window", function()
  pictures.fits(drawn("plot({1, 0/0, 1/0, 5, 7, -2}, {logy=true, xrange={1, 4}})", 40), 40)
end)

test("it fits windows of 40 and of 120 columns, and takes all of them", function()
  for _, columns in ipairs {40, 120} do
    for _, draw in ipairs {drawn, ascii} do
      local lines = draw("plot(randn(3, 500), {logy=true, legend={'one', 'two', 'three'}})",
        columns)
      pictures.fits(lines, columns)
      local widest = 0
      for _, line in ipairs(lines) do widest = math.max(widest, utf8.len(line)) end
      assert(widest == columns, widest)
    end
  end
end)

test("NaN and infinities break the line and are counted; lonely points are seen", function()
  is(drawn("plot({1, 0/0, 3, 1/0}, {height=3})", 40), [[
3┤                                     •
2┤
1┤•
 └┬──────────────────┬─────────────────┬
  1                  2                 3
left out: 1 NaN, 1 infinite
]])
end)

test("a log axis leaves out what is not above 0", function()
  has(drawn("plot({-1, 0, 1, 10}, {logy=true})"), "left out: 2 not above 0 on a log axis")
  has(drawn("plot({-1, 1, 10}, {1, 2, 3}, {logx=true})"), "left out: 1 not above 0 on a log axis")
end)

test("given ranges cut the line and count what is outside", function()
  is(drawn("plot({1, 2, 3, 99}, {xrange={1, 3}, height=3})", 40), [[
3┤                         ⣀⣀⣀⡠⠤⠤⠤⠒⠒⠒⠒⠉⠉
2┤           ⢀⣀⣀⡠⠤⠤⠔⠒⠒⠒⠉⠉⠉⠉
1┤⣀⣀⠤⠤⠤⠒⠒⠒⠉⠉⠉⠁
 └┬──────────────────┬─────────────────┬
  1                  2                 3
left out: 1 out of range
]])
end)

test("points alone: marks if they are few, dots if they are many, letters of series", function()
  is(drawn("plot({1, 2, 3}, {lines=false, height=3})", 40), [[
3┤                                     •
2┤                   •
1┤•
 └┬──────────────────┬─────────────────┬
  1                  2                 3
]])
  has(drawn("plot({{1, 2}, {2, 1}}, {lines=false, height=2})", 40), "2.0┤b")
  local many = drawn("plot(range(1, 60), {lines=false, height=2})", 40)
  assert(not table.concat(many):find("•", 1, true) and table.concat(many):find("⢀", 1, true))
end)

test("a function is drawn over xrange", function()
  is(drawn("plot(function(x) return x * x end, {xrange={-2, 2}, height=3})", 40), [[
4┤⠙⠲⢤⡀                              ⢀⡠⠖⠋
2┤   ⠈⠙⠲⠤⣀⡀                    ⢀⣠⠤⠖⠋⠁
0┤        ⠉⠉⠓⠒⠦⠤⠤⣀⣀⣀⣀⣀⣀⣀⣀⠤⠤⠴⠒⠒⠉⠉
 └┬──────────────────┬─────────────────┬
  -2                 0                 2
]])
end)

test("a constant, a single point, the largest and the smallest numbers", function()
  for _, code in ipairs {"plot({5, 5})", "plot({5})", "plot({1e-300, 1e300})",
    "plot({1e-300, 1e300}, {logy=true})", "plot({-1.7e308, 1.7e308})", "plot({5e-324, 0})",
    "plot({0, 0})", "plot({5}, {logx=true, logy=true})", "plot({1, 1 + 2^-52})",
    "plot({2^53, 2^53 + 2})", "plot({math.maxinteger, math.mininteger})"} do
    local lines = drawn(code, 40)
    pictures.fits(lines, 40)
    has(lines, "└")
  end
  is(drawn("plot({1e-300, 1e300}, {logy=true, height=3})", 40), [[
 1e200┤                      ⢀⣀⣀⡠⠤⠤⠔⠒⠒⠊⠉
     1┤          ⢀⣀⣀⡠⠤⠤⠔⠒⠒⠊⠉⠉⠁
1e-200┤⣀⡠⠤⠤⠔⠒⠒⠊⠉⠉⠁
      └┬───────────────────────────────┬
       1                               2
]])
end)

test("a tensor of 10^9 elements is read in pieces", function()
  local lines = drawn("plot(tensor(2):expand(1000000000))")
  has(lines, "each point is the smallest or the largest of about 2500000")
  lines = drawn("t = zeros(200000) t[{77}] = 5 t[{90}] = 0/0 t[{91}] = 1/0 plot(t)")
  has(lines, "5┤")
  has(lines, "left out: 1 NaN, 1 infinite")
end)

test("each row of a matrix is a series", function()
  has(drawn("plot(randn(2, 9))"), "a row 1   b row 2")
  raises("plot: y is [13, 2], a series for each of 13 rows, expected at most 12; hint: heat " ..
    "shows a matrix", plot, zeros(13, 2))
end)

test("series may bring x, y and label of their own", function()
  has(drawn("plot({{x={1, 2}, y={1, 2}, label='up'}, {y={2, 1}}})"), "a up   b series 2")
  raises("plot: a series has \"z\", expected x, y and label", plot, {{y = {1}, z = 2}})
  raises("plot: label is 7, expected a string", plot, {{y = {1}, label = 7}})
end)

test("a line end in a text is a blank", function()
  local lines = drawn("plot({{y={1, 2}, label='a\\nb'}}, {title='c\\td', height=2})", 40)
  has(lines, "c d")
  has(lines, "\na a b")
  has(drawn("plot({1, 2}, {legend={'a\\nb'}})", 40), "\na a b")
end)

test("wrong calls say what was expected", function()
  raises("plot: y is 7, expected a tensor or a list of numbers", plot, 7)
  raises("plot: y is nil, expected a tensor or a list of numbers", plot, nil)
  raises("plot: there are 0 arguments, expected plot(y), plot(x, y) or plot({y1, y2, ...})", plot)
  raises("plot: there are 3 arguments, expected plot(y), plot(x, y) or plot({y1, y2, ...})",
    plot, {1}, {1}, {1})
  raises("plot: x has 2 numbers, expected 3 to match y", plot, {1, 2}, {1, 2, 3})
  raises("plot: y[2] is \"a\", expected a number", plot, {1, "a"})
  raises("plot: y[2] is nil, expected a number", plot, {1, nil, 3})
  raises("plot: y is [2, 2, 2], expected [n] or [s, n]", plot, zeros(2, 2, 2))
  raises("plot: unknown option 'titel'; did you mean 'title'?", plot, {1}, {titel = "a"})
  raises("plot: logx is 1, expected true or false", plot, {1}, {logx = 1})
  raises("plot: width is 0, expected a whole number from 1 to 1000", plot, {1}, {width = 0})
  raises("plot: xrange is {2, 1}, expected {low, high}, two finite numbers in this order",
    plot, {1}, {xrange = {2, 1}})
  raises("plot: yrange begins at 0, expected more than 0 on a log axis", plot, {1},
    {logy = true, yrange = {0, 1}})
  raises("plot: legend has 2 labels for 1 series", plot, {1}, {legend = {"a", "b"}})
  raises("plot: there are no numbers to draw", plot, {})
  raises("plot: there are no numbers to draw; left out: 1 NaN", plot, {0 / 0})
  raises("plot: the function gave nil for -5, expected a number", plot, function() end)
end)

test("colours repeat what letters say, where they are asked for", function()
  local code = "plot({{1, 2}, {2, 1}}, {height=2, lines=false})"
  local pipe = assert(io.popen(("LC_ALL=C.UTF-8 '%s' --color=always --no-init -e '%s'"):format(
    os.getenv("TARN"), code)))
  local text = pipe:read("a")
  pipe:close()
  assert(text:find("\27[34ma\27[0m", 1, true) and text:find("\27[31mb\27[0m", 1, true), text)
  local plain = text:gsub("\27%[%d*m", "")
  tap.is(plain, table.concat(drawn(code), "\n") .. "\n")
end)

tap.done()
