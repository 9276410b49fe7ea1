-- names.lua: the public names of tarn by topic, in the order in which help() lists them.
--
-- The single source for the global names of the user's environment and for completion.
-- What an entry says comes from the block above the function that has the name; the build
-- gathers them in help_entries.lua (tools/help.awk tells how such a block looks); which chapter
-- of the book explains a function, the chapter says (tools/chapters.awk). A test
-- holds the table `tarn` to this list.
--
-- `global` topics lend their names to the user's environment; those of `method` topics are
-- called t:name(...), most of them also tarn.name(t, ...), or belong to cells, st:name(...);
-- `about` topics are no names of tarn's but words to look up.
--
--   names.topics    lists of entries, each with its title
--   names.by_key    "t:sum" -> entry {key =, name = "sum", signature =, sentence =, topic =, ..}
--   names.by_name   "sum" -> the first entry of that name
--   names.globals   list of names
--   names.in_c      entries of the functions in tarn.h, in its order

local topics = {
  {
    title = "Making tensors", global = true,
    "tensor", "zeros", "ones", "full", "eye", "range", "linspace", "rand", "randn", "seed",
  },
  {
    title = "Files", global = true,
    "read", "imwrite", "mnist",
  },
  {
    title = "Joining, picking, comparing tensors", global = true,
    "cat", "flip", "index", "where", "allclose", "maxdiff",
  },
  {
    title = "Facts about a tensor", method = true, field = true,
    "t.shape", "t.dtype", "t.device", "t.strides",
  },
  {
    title = "Elements and arithmetic", about = true,
    "t[i]", "operators",
  },
  {
    title = "Methods of tensors: facts and elements", method = true,
    "t:rank", "t:numel", "t:item", "t:totable", "t:save", "t:fill", "t:copy", "t:clone",
    "t:contiguous", "t:to",
  },
  {
    title = "Methods of tensors: shapes", method = true,
    "t:reshape", "t:transpose", "t:t", "t:permute", "t:squeeze", "t:unsqueeze", "t:expand",
  },
  {
    title = "Methods of tensors: element by element", method = true,
    "t:exp", "t:log", "t:sqrt", "t:abs", "t:tanh", "t:sigmoid", "t:relu", "t:elu", "t:clamp",
    "t:minimum", "t:maximum", "t:eq", "t:lt", "t:le", "t:gt", "t:ge",
  },
  {
    title = "Methods of tensors: sums and products", method = true,
    "t:sum", "t:mean", "t:max", "t:min", "t:argmax", "t:norm", "t:softmax", "t:cumsum", "t:mm",
  },
  {
    title = "Stage 0: feature maps", global = true,
    "phi", "phis",
  },
  {
    title = "The four stages", global = true,
    "sim", "assoc", "prefix", "rnn", "kv",
  },
  {
    title = "Recurrent cells and caches", method = true, cell = true,
    "st:step", "st:run", "st.S", "st.z", "st.t", "st.device", "st:bytes", "st:reset", "st:clone", "st:save",
    "rnn.load",
  },
  {
    title = "Gradients", global = true,
    "sim_grad", "assoc_grad", "prefix_grad", "rnn_grad", "gradcheck",
  },
  {
    title = "Comparing", global = true,
    "equiv", "tour", "backends", "bench", "time",
  },
  {
    title = "Kernels and the emulated device", global = true,
    "kernel", "emu", "profile",
  },
  {
    title = "Looking", global = true,
    "show", "plot", "heat", "hist", "who",
  },
  {
    title = "Help", global = true,
    "help", "apropos",
  },
  {
    title = "About the prompt", about = true,
    "?name", ";", "_", ":save", ":bt", "!cmd", "^C", "^D", "keys",
  },
  {
    title = "Words that many entries use", about = true,
    "shapes", "options", "lengths", "state", "precision",
  },
  {
    title = "About tarn",
    "tarn.version",
  },
}

local by_key, by_name, globals, in_c = {}, {}, {}, {}
for _, entry in ipairs(require "tarn.help_entries") do
  entry.name, by_key[entry.key] = entry.key, entry
  if entry.aliasing then in_c[#in_c + 1] = entry end
end

-- What a chapter says that it explains, it explains in C as well: prefix and tarn_prefix.
for _, chapter in ipairs(require "tarn.chapters") do
  for _, key in ipairs(chapter.names) do
    for _, one in ipairs {key, "tarn_" .. key:gsub("^st[.:]", "rnn_")} do
      if by_key[one] then by_key[one].chapter = chapter end
    end
  end
end

for _, topic in ipairs(topics) do
  for i, key in ipairs(topic) do
    local entry = assert(by_key[key], key)
    entry.name, entry.topic, topic[i] = key:match("[%w_]+$") or key, topic, entry
    if topic.global then globals[#globals + 1] = entry.name end
    if not topic.about then by_name[entry.name] = by_name[entry.name] or entry end
  end
end

return {topics = topics, by_key = by_key, by_name = by_name, globals = globals, in_c = in_c}
