-- report.lua: what the lab's report says: the lines at its head, the tables of each form, the
-- questions. Every number is of the run that wrote it.

local measure = require "measure"
local page = require "page"
local report = require "tarn.report"

local titles = {
  prefix = "prefix: causal, by features",
  sim = "sim: softmax, causal",
  assoc = "assoc: by features, all tokens see all",
}

-- What each rung does, for those who read the table before the kernels.
local ladders = {
  prefix = "k1 walks through time with one thread for each column of the state. k2 sums chunks " ..
    "of tokens side by side, then their prefixes, then the outputs. k3 keeps the state of a " ..
    "block in registers over several chunks. k4 does the same and makes the features of what it " ..
    "has loaded (`cuda/prefix.cu`).",
  sim = "k1 takes one query a block, which reads all keys before it. k2 takes a square of " ..
    "queries, and a key that was read once serves all of them (`cuda/sim.cu`).",
  assoc = "k1 gives each entry of the state to a thread, which reads all tokens. k2 works on " ..
    "squares in shared memory (`cuda/assoc.cu`).",
}

local predict = {
  "The error grows with the number of tokens, or does it? And its bound, which counts the " ..
    "longest chain of additions, where sums are made of sums of 64 tokens?",
  "With twice the tokens, how do the bytes that memory moves grow for sim, and how for prefix?",
  "By how much does k2 move less than k1? Count the times that k1 reads one key.",
  "Which rung will ask shared memory for more than it asks global memory, and is that good?",
  "A GPU moves so many bytes a second. Which rung is then bound by memory, and at which size?",
}

local questions = {
  "Which of your predictions were wrong, and what had you overlooked?",
  "How do the error and its bound grow with the number of tokens, why so little, and why is the " ..
    "bound so far above?",
  "By how much does the best rung move less than k1, and which reads does it save?",
  "Which rung asks shared memory for more than it asks global memory? Is that good?",
  "With your numbers of bytes, at which size would prefix beat sim on a device bound by memory?",
}

local explained = {
  "An error is relative to the sum of the absolute terms of an entry. It is that from the plain " ..
    "form in float64, and the rows \"reference\" compare this form with the oracle, a double " ..
    "sum in float64, on one head; where all is float64, its own rounding is in the error. All " ..
    "devices have the same bound, that of `equiv`: a rounding for each addition of the longest " ..
    "chain, which has D, at most 64 tokens of a block, and one more for each further block.",
  "A time marked as emulated is that of a program that plays a GPU. It says nothing about a GPU " ..
    "and has no speed-up. The others are medians (of gradients: one call for one head); " ..
    "a speed-up is over the fast form on the CPU.",
  "The accesses are those of a GPU. Bytes moved are sectors of 32 bytes: more than was asked " ..
    "for where neighbouring threads read far apart, less where they read the same words. A " ..
    "wavefront of shared memory brings up to 32 words, 128 bytes. Accesses are counted up to " ..
    measure.most_watched .. " tokens.",
  "By the least: how many times as many sectors, or wavefronts of shared memory, as these bytes " ..
    "need at best. Above 1, threads of a warp stand in each other's way.",
}

local function chosen(rows, test)
  local list = {}
  for _, row in ipairs(rows) do
    if test(row) then list[#list + 1] = row end
  end
  return list
end

local function add_results(lines, rows)
  local cells = {}
  for i, row in ipairs(rows) do
    local time = row.seconds and report.duration(row.seconds) or ""
    if row.time_is == "emulated" and row.seconds then time = time .. " (emulated)" end
    cells[i] = {tostring(row.tokens), row.device, row.impl, row.what, report.error(row.max_rel),
      row.ok and "≤" or "**>**", ("%.2e"):format(row.bound), time,
      row.speedup_over_cpu_fast and ("%.3g"):format(row.speedup_over_cpu_fast) or ""}
  end
  page.rows(lines, {">tokens", "device", "rung", "what", ">error", "", ">bound", ">time",
    ">speed-up"}, cells)
end

local function times(actual, least)
  return least > 0 and ("%.2f"):format(actual / least) or ""
end

-- The accesses of one head, and in a sentence what the best rung saves.
local function add_accesses(lines, rows)
  if #rows == 0 then return end
  local cells = {}
  for i, row in ipairs(rows) do
    cells[i] = {tostring(row.tokens), row.impl, report.count(row.head_global_bytes),
      report.count(row.head_sectors * 32), times(row.head_sectors, row.head_sectors_least),
      report.count(row.head_wavefronts), times(row.head_wavefronts, row.head_wavefronts_least)}
  end
  lines[#lines + 1] = "Accesses of one head, counted on the emulated device:"
  lines[#lines + 1] = ""
  page.rows(lines, {">tokens", "rung", ">bytes asked for", ">bytes moved", ">by the least",
    ">shared wavefronts", ">by the least"}, cells)
  local last, first = rows[#rows], nil
  for _, row in ipairs(rows) do
    if row.tokens == last.tokens and row.impl == "k1" then first = row end
  end
  if first and first ~= last then
    lines[#lines + 1] = ("At %d tokens k1 has memory move %.3g times as many bytes as %s."):format(
      last.tokens, first.head_sectors / last.head_sectors, last.impl)
    lines[#lines + 1] = ""
  end
end

local function head(lines, opt)
  local function add(...) lines[#lines + 1] = string.format(...) end
  add("%d head%s, D = M = %d, %s. Devices: %s.", opt.heads, opt.heads == 1 and "" or "s",
    opt.width, opt.dtype, table.concat(opt.devices, ", "))
  for _, name in ipairs {"emu", "cuda"} do
    if opt.why_not[name] then add("%s did not run: %s.", name, opt.why_not[name]) end
  end
end

local function body(lines, rows, opt)
  lines[#lines + 1] = "## What to look at\n"
  for _, text in ipairs(explained) do lines[#lines + 1] = "- " .. text end
  lines[#lines + 1] = ""
  for _, form in ipairs(opt.forms) do
    local own = chosen(rows, function(row) return row.form == form end)
    lines[#lines + 1] = "## " .. titles[form] .. "\n\n" .. ladders[form] .. "\n"
    add_results(lines, own)
    add_accesses(lines, chosen(own, function(row) return row.head_sectors end))
  end
end

return {head = head, page = body, predict = predict, questions = questions}
