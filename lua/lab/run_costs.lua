-- run_costs.lua: what an answer may cost: memory, reads and writes, instructions, and how these
-- grow when the sequence gets twice as long. Costs are counted, never timed.

local costs = {}

-- What a limit is called, and what is counted for it.
local COUNTED = {
  {"heap", "heap", "bytes of memory at a time"},
  {"stack", "stack", "bytes of local variables"},
  {"loads", "loads", "floats read"},
  {"stores", "stores", "floats written"},
  {"instructions", "instructions", "instructions of Lua"},
  {"sectors", "global_actual", "sectors of 32 bytes from and to global memory"},
}

-- Runs with limits whose case was right so far.
local function limited_runs(work, done)
  local list = {}
  for _, one in ipairs(work.runs) do
    local first = costs.first_of(work, one)
    if one.case.limit and done[first.number] and done[first.number].ok then
      list[#list + 1] = one
    end
  end
  return list
end

-- measure(work, done, run_all): puts what was counted into `counted` of each run with limits. A
-- language with a program of its own that counts runs them there once more; else those that
-- have not run yet are run.
function costs.measure(work, done, run_all)
  local list, numbers, counted = limited_runs(work, done), {}, done
  local apart = work.language.prepare_costs
  for _, one in ipairs(list) do
    if apart or not done[one.number] then numbers[#numbers + 1] = one.number end
  end
  local problem = apart and #numbers > 0 and apart(work)
  if apart then counted = {} end
  if not problem then run_all(work, numbers, apart ~= nil, counted) end
  for _, one in ipairs(list) do
    one.counted = problem and {problem = problem, kind = "cost"} or counted[one.number]
  end
end

-- The run with the shorter inputs of the same case.
function costs.first_of(work, one)
  for _, other in ipairs(work.runs) do
    if other.at == one.at and other.scale == 1 then return other end
  end
end

local function second_of(work, one)
  for _, other in ipairs(work.runs) do
    if other.at == one.at and other.scale == 2 then return other end
  end
end

-- Whatever stands for the work of a run.
local function total(counts)
  return counts.instructions or counts.global_actual or counts.loads + counts.stores
end

local function text(n)
  local digits = ("%.0f"):format(n)
  return (digits:reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", ""))
end

local function judge_growth(work, one, most)
  local second = second_of(work, one)
  local growth = total(second.counted.costs) / math.max(1, total(one.counted.costs))
  one.costs.growth = growth
  if growth <= most then return nil end
  return {message = ("for a sequence twice as long it does %.2f times the work, allowed are %.2f")
    :format(growth, most)}
end

-- What a warp's requests took of memory beside the least that would do.
local RATIOS = {
  {"global", "sectors of global memory, neighbouring threads being far apart"},
  {"shared", "wavefronts of shared memory, lanes wanting different words of one bank"},
}

local function judge_ratios(one, limit)
  for _, row in ipairs(RATIOS) do
    local actual, least = one.costs[row[1] .. "_actual"], one.costs[row[1] .. "_least"]
    if actual and least > 0 then one.costs[row[1]] = actual / least end
    if limit[row[1]] and not actual then return {message = row[1] .. " can't be counted here"} end
    if limit[row[1]] and one.costs[row[1]] and one.costs[row[1]] > limit[row[1]] then
      return {message = ("it takes %.2f times the least possible %s; allowed are %.2f; %s"):format(
        actual / least, row[2], limit[row[1]], one.counted.note or "")}
    end
  end
end

-- judge(work, one) -> nil if a run keeps its limits, else {message=}.
function costs.judge(work, one)
  local limit = one.case.limit
  if not limit then return nil end
  one.costs = one.counted.costs
  if not next(one.costs) then return {message = "what it costs was not counted"} end
  for _, row in ipairs(COUNTED) do
    local most, counted = limit[row[1]], one.costs[row[2]]
    if type(most) == "function" then most = most(one.inputs) end
    if most and not counted then return {message = row[1] .. " can't be counted here"} end
    if most and counted > most then
      return {message = ("it takes %s %s, allowed are %s"):format(text(counted), row[3],
        text(most)), cost = row[1], counted = counted, allowed = most}
    end
  end
  if limit.heap and (one.costs.left or 0) > 0 then
    return {message = ("it keeps %s bytes that it took with malloc: free them"):format(
      text(one.costs.left)), cost = "left", counted = one.costs.left, allowed = 0}
  end
  local wrong = judge_ratios(one, limit)
  if wrong then return wrong end
  if limit.growth then return judge_growth(work, one, limit.growth) end
end

return costs
