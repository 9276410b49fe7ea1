-- picture.lua: the panels of the lab's plot: errors with their bounds, times, bytes that memory
-- moves for one head, and where a real device ran, what it gains. What is emulated says so.

local measure = require "measure"
local panels = require "panels"

local SECTOR = 32 -- bytes

local function series_of(rows, key_of, y_of)
  return panels.series(rows, key_of, function(row) return row.tokens end, y_of)
end

-- The last implementation of each form on each device is the best one; of the CPU, the first.
local function best_rows(rows)
  local best, chosen = {}, {}
  for _, row in ipairs(rows) do
    local key = row.form .. row.device
    if row.what == "out" and (row.device ~= "cpu" or not best[key]) then best[key] = row.impl end
  end
  for _, row in ipairs(rows) do
    if row.what == "out" and best[row.form .. row.device] == row.impl then
      chosen[#chosen + 1] = row
    end
  end
  return chosen
end

local function name_of(row) return ("%s %s %s"):format(row.form, row.device, row.impl) end

local function panels_of(rows, opt)
  local rounding = measure.epsilon[opt.dtype]
  local best, outputs = best_rows(rows), {}
  for _, row in ipairs(rows) do
    if row.what == "out" then outputs[#outputs + 1] = row end
  end
  local errors = series_of(best, name_of, function(row) return row.max_rel / rounding end)
  for _, bound in ipairs(series_of(best, function(row) return row.form .. " bound" end,
      function(row) return row.device == best[1].device and row.bound / rounding or nil end)) do
    errors[#errors + 1] = bound
  end
  return {
    {errors, "Largest error over the number of tokens, and its bound",
      ("in units of %.2g"):format(rounding)},
    {series_of(best, function(row)
      return row.time_is == "emulated" and row.form .. " " .. row.impl .. " emulated" or
        name_of(row)
    end, function(row) return row.seconds * 1e3 end),
      "Time over the number of tokens; emulated times compare with nothing", "milliseconds"},
    {series_of(outputs, function(row) return row.form .. " " .. row.impl end,
      function(row) return row.head_sectors and row.head_sectors * SECTOR / 2 ^ 20 end),
      "What global memory moves for one head, over the number of tokens", "MiB"},
    {series_of(best, name_of, function(row)
      return row.device ~= "cpu" and row.speedup_over_cpu_fast or nil
    end), "Speed-up over the fast form on the CPU, over the number of tokens", "times as fast"},
  }
end

return panels_of
