-- run_costs.lua: what an answer may cost: memory, reads and writes, instructions, and how these
-- grow when the sequence gets twice as long. Costs are counted, never timed.

local costs = {}

-- What a limit is called, and what is counted for it.
local COUNTED = {
  {"heap", "heap", "bytes of memory at a time"},
  {"loads", "loads", "floats read"},
  {"stores", "stores", "floats written"},
  {"instructions", "instructions", "instructions of Lua"},
}

local function limited(one)
  return one.case.limit ~= nil
end

-- measure(work, done, run_all): runs the cases with limits that were right so far once more, in
-- the program that counts, and puts what was counted into each run's `costs`.
function costs.measure(work, done, run_all)
  local numbers, by_number = {}, {}
  for _, one in ipairs(work.runs) do
    local first = one.scale == 1 and one or costs.first_of(work, one)
    if limited(one) and done[first.number] and done[first.number].ok then
      numbers[#numbers + 1] = one.number
      by_number[one.number] = one
    end
  end
  if #numbers == 0 then return end
  local problem = work.language.prepare_costs(work)
  if problem then error("the program that counts " .. problem, 0) end
  local counted = {}
  run_all(work, numbers, true, counted)
  for number, one in pairs(by_number) do one.counted = counted[number] end
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
  return counts.instructions or counts.loads + counts.stores
end

local function text(n)
  local digits = ("%d"):format(n)
  return (digits:reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", ""))
end

local function judge_growth(work, one, most)
  local second = second_of(work, one)
  if second.counted.problem then return {message = second.counted.problem} end
  local growth = total(second.counted.costs) / math.max(1, total(one.counted.costs))
  one.costs.growth = growth
  if growth <= most then return nil end
  return {message = ("for a sequence twice as long it does %.2f times the work, allowed are %.2f")
    :format(growth, most)}
end

-- judge(work, one) -> nil if a run keeps its limits, else {message=}.
function costs.judge(work, one)
  local limit = one.case.limit
  if not limit then return nil end
  if one.counted.problem then return {message = one.counted.problem} end
  one.costs = one.counted.costs
  for _, row in ipairs(COUNTED) do
    local most, counted = limit[row[1]], one.costs[row[2]]
    if type(most) == "function" then most = most(one.inputs) end
    if most and counted and counted > most then
      return {message = ("it takes %s %s, allowed are %s"):format(text(counted), row[3],
        text(most)), cost = row[1], counted = counted, allowed = most}
    end
  end
  if limit.growth then return judge_growth(work, one, limit.growth) end
end

return costs
