-- The scan over chunks as a tree, level by level, for any number of chunks.

-- The sum of items from..to of the leaves, plus what it begins with.
local function sum(leaves, from, to, start)
  local total = {}
  for e, value in ipairs(start) do total[e] = value end
  for n = from, to do
    for e in ipairs(total) do total[e] = total[e] + leaves[n][e] end
  end
  return total
end

-- Node i of a level covers `width` leaves: their sum, and the sum of all leaves before them.
local function spec(inputs)
  local leaves, first = inputs.sums:totable(), inputs.first:totable()
  local zero = {}
  for e in ipairs(first) do zero[e] = 0 end
  local sums, before, width = {}, {}, 1
  repeat
    local nodes = (inputs.P + width - 1) // width
    for i = 0, nodes - 1 do
      local from, to = i * width + 1, math.min((i + 1) * width, inputs.P)
      sums[#sums + 1] = sum(leaves, from, to, zero)
      before[#before + 1] = sum(leaves, 1, from - 1, first)
    end
    width = 2 * width
  until nodes == 1
  return {sums = sums, before = before}
end

-- The nodes of all levels above P leaves, and these.
local function count(P)
  return P == 1 and 1 or P + count((P + 1) // 2)
end

local function chunks(P, E)
  return function(draw, scale)
    local n = P * scale
    local T = count(n)
    local sums = full({T, E}, -1)
    sums[{{1, n}}] = draw.rand(n, E)
    return {P = n, T = T, E = E, first = draw.rand(E), sums = sums}
  end
end

-- 2^24 + 1 is 2^24 in float32: ones that are added to the first leaf one by one are lost.
local function large_first(draw)
  local x = chunks(64, 2)(draw, 1)
  x.sums[{{1, 64}}] = 1
  x.sums[1] = 2 ^ 24
  return x
end

return {
  title = "The scan as a tree", chapter = 9, order = 2, language = "c", minutes = 40,
  points = 12,
  summary = "exclusive prefixes of any number of chunk sums, in a logarithm of rounds",
  equations = "phase 2 of the scan",
  entry = "scan_tree",
  parameters = {
    "size_t P", "size_t T", "size_t E", {"const float *first", "E"}, {"float *sums", "T", "E"},
    {"float *before", "T", "E"},
  },
  spec = spec,
  tol = {k = 64, why = "sums of up to 64 terms in float32, in any order"},
  cases = {
    {name = "before a single chunk is what came first", equation = "phase 2", points = 1,
      inputs = chunks(1, 5)},
    {name = "two chunks: one sum, handed to the right", equation = "phase 2", points = 2,
      inputs = chunks(2, 3)},
    {name = "eight chunks, a full tree", equation = "up and down", points = 3,
      inputs = chunks(8, 6)},
    {name = "eleven chunks: a node may have no right neighbour", equation = "up and down",
      points = 3, inputs = chunks(11, 4)},
    {name = "neighbours are added first, and nothing walks along the leaves",
      equation = "up and down", points = 2, inputs = large_first,
      tol = {k = 2, why = "a level rounds a sum of 2^24 by 1; a walk loses each of 62 ones"}},
    {name = "twice the chunks, twice the work", equation = "2 (P - 1) additions", points = 1,
      inputs = chunks(24, 4), limit = {growth = 2.2, heap = 4096}},
  },
  hints = {
    "Solve it for P nodes as if somebody had solved it for their (P + 1) / 2 parents. What " ..
      "do you have to give the parents, and what do you do with what they give back?",
    "Up: parent i is node 2i + node 2i + 1, or node 2i alone. Down: before(2i) = " ..
      "before(parent i), before(2i + 1) = before(parent i) + sum(2i). Before the root is " ..
      "`first`.",
    "if (P == 1) copy first to before and return. up = sums + P * E; fill (P + 1) / 2 rows " ..
      "of it; scan_tree((P + 1) / 2, T - P, E, first, up, before + P * E); then hand its rows " ..
      "of `before` down.",
  },
  wrong = {
    {name = "inclusive", fails = "before a single chunk is what came first", says = "before[",
      because = "a chunk's own sum is in what stands before it",
      change = {
        {"before[e] = first[e];", "before[e] = first[e] + sums[e];"},
        {[[
            const float left = n % 2 ? sums[(n - 1) * E + e] : 0;
            before[n * E + e] = before_up[n / 2 * E + e] + left;]], [[
            const float right = n % 2 == 0 && n + 1 < P ? sums[(n + 1) * E + e] : 0;
            before[n * E + e] = before_up[n / 2 * E + e] - right;]]},
      }},
    {name = "even-only", fails = "eleven chunks: a node may have no right neighbour",
      because = "a node without a right neighbour is left out",
      change = {
        {"parents = (P + 1) / 2;", "parents = P / 2;"},
        {"before[n * E + e] = before_up", "if (n / 2 < parents) before[n * E + e] = before_up"},
      }},
    {file = "wrong/loop.c", fails = "eight chunks, a full tree",
      because = "the prefixes are right, but come from a loop: the tree is not there"},
    {name = "walk", fails = "neighbours are added first, and nothing walks along the leaves",
      says = "before[", because = "each sum waits for the one to its left: N rounds, not log N",
      change = {
        {[[
            const float left = n % 2 ? sums[(n - 1) * E + e] : 0;
            before[n * E + e] = before_up[n / 2 * E + e] + left;]], [[
            before[n * E + e] = n ? before[(n - 1) * E + e] + sums[(n - 1) * E + e]
                                  : before_up[e];]]},
      }},
    {name = "mirrored", fails = "two chunks: one sum, handed to the right",
      because = "the left child is given the right one's sum: suffixes",
      change = {
        {[[
            const float left = n % 2 ? sums[(n - 1) * E + e] : 0;
            before[n * E + e] = before_up[n / 2 * E + e] + left;]], [[
            const float right = n % 2 == 0 && n + 1 < P ? sums[(n + 1) * E + e] : 0;
            before[n * E + e] = before_up[n / 2 * E + e] + right;]]},
      }},
  },
  paste = {{region = "src/stages/prefix.c:prefix_scan_tree", file = "paste/prefix_scan_tree.c"}},
  predict = {
    {ask = "How many rounds are there from 11 leaves to the root, and how many nodes in all?",
      answer = "4 rounds: 11, 6, 3, 2, 1 nodes; 23 in all."},
  },
}
