-- A scan in shared memory that lacks one barrier.

-- z[i][c], the sum of the keys' features up to token i (eq 11).
local function spec(inputs)
  local k, z = inputs.k:totable(), {}
  for i = 1, inputs.N do
    z[i] = {}
    for c = 1, inputs.C do
      z[i][c] = k[i][c] + (i > 1 and z[i - 1][c] or 0)
    end
  end
  return {z = z}
end

local function keys(N, C)
  return function(draw) return {k = draw.rand(N, C)} end
end

return {
  title = "A barrier is missing", chapter = 11, order = 1, language = "cuda", minutes = 15,
  points = 6,
  summary = "a scan in shared memory that is right on some days",
  equations = "eq 11",
  entry = "running_sums",
  parameters = {{"float *z", "N", "C"}, {"const float *k", "N", "C"}, "int N", "int C"},
  launch = function(inputs)
    return {grid = inputs.C, block = math.ceil(inputs.N / 32) * 32}
  end,
  spec = spec,
  tol = {k = 64, why = "sums of up to 256 positive terms in float32, by a tree"},
  cases = {
    {name = "one warp", equation = "eq 11", points = 1, inputs = keys(32, 1)},
    {name = "several warps", equation = "eq 11", points = 3, inputs = keys(128, 2)},
    {name = "a last warp that is not full", equation = "eq 11", points = 2, inputs = keys(75, 3)},
  },
  predict = {
    {ask = "In the first round, which two threads use s[31], and in which warps are they?",
      answer = "thread 31, which adds to it, and thread 32 of the next warp, which reads it"},
  },
  hints = {
    "Two threads use the same element between two barriers, one of them writes: which?",
    "Thread i reads s[i - by] in the round in which thread i - by writes it.",
    "All threads must have read before any adds: __syncthreads(); between the two lines, where " ..
      "all threads come to it.",
  },
  wrong = {
    {name = "in-a-branch", fails = "several warps", says = "race",
      because = "a barrier that only some threads come to",
      change = {
        {[[
        const float before = i >= by ? s[i - by] : 0;
        __syncthreads();]], [[
        float before = 0;
        if (i >= by) {
            before = s[i - by];
            __syncthreads();
        }]]},
      }},
    {name = "of-a-warp", fails = "several warps", says = "race",
      because = "only the threads of one warp wait for each other",
      change = {
        {"        __syncthreads();\n        s[i] += before;",
          "        __syncwarp();\n        s[i] += before;"},
      }},
    {name = "no-first", fails = "one warp", says = "race",
      because = "the first round may read what is not written yet",
      change = {{"? k[i * C + c] : 0;\n    __syncthreads();", "? k[i * C + c] : 0;"}}},
    {name = "after-the-sum", fails = "several warps", says = "race",
      because = "two barriers stand after the sum, none before it",
      change = {
        {[[
        __syncthreads();
        s[i] += before;]], [[
        s[i] += before;
        __syncthreads();]]},
      }},
  },
}
