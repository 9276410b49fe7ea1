-- names.lua: every public name of tarn, once: how it is called and what it does.
--
-- The single source for the global names of the user's environment, for help(), and for
-- the list of names that completion offers. A test holds the table `tarn` to this list.
--
-- Each topic has a title and entries {name, signature, sentence}. `global` topics lend
-- their names to the user's environment; `method` topics are called t:name(...), and
-- most of them tarn.name(t, ...) as well.

local topics = {
  {
    title = "Making tensors", global = true,
    {"tensor", "tensor(nested | number, {dtype=, device=})",
      "Makes a tensor from nested tables of numbers, or from a number."},
    {"zeros", "zeros(n, m, ..., {dtype=, device=})", "Makes a tensor of zeros; also zeros({n, m})."},
    {"ones", "ones(n, m, ..., {dtype=, device=})", "Makes a tensor of ones; also ones({n, m})."},
    {"full", "full({n, m, ...}, x, {dtype=, device=})", "Makes a tensor filled with the number x."},
    {"eye", "eye(n, {dtype=, device=})", "Makes the n by n identity matrix."},
    {"range", "range(a, b, step, {dtype=, device=})",
      "Counts from a to b, the end included as in Lua's for."},
    {"linspace", "linspace(a, b, n, {dtype=, device=})", "Makes n numbers evenly spaced from a to b, both included."},
    {"rand", "rand(n, m, ..., {seed=, dtype=, device=})", "Draws uniform random numbers from [0, 1)."},
    {"randn", "randn(n, m, ..., {seed=, dtype=, device=})", "Draws normal random numbers, mean 0 and deviation 1."},
    {"seed", "seed(n)", "Restarts the session's random numbers from the whole number n."},
  },
  {
    title = "Files", global = true,
    {"read", "read(path)", "Reads a .npy or IDX file (also gzipped) into a tensor."},
    {"imwrite", "imwrite(path, t)", "Writes a tensor [h, w] or [h, w, 3] of values 0 to 1 as a PNG image."},
    {"mnist", "mnist(i)", "Gives the i-th handwritten digit of the MNIST test set: image [28, 28], label."},
  },
  {
    title = "Joining, picking, comparing tensors", global = true,
    "cat", "flip", "index", "where",
    {"allclose", "allclose(a, b, {rtol=, atol=})", "Tells whether |a - b| <= atol + rtol |b| everywhere; NaN never is."},
    {"maxdiff", "maxdiff(a, b)", "Gives the largest |a - b|."},
  },
  {
    title = "Facts about a tensor", method = true, field = true,
    {"shape", "t.shape", "The extents, a table of numbers."},
    {"dtype", "t.dtype", 'The type of the elements: "float32" or "float64".'},
    {"device", "t.device", 'Where the elements lie: "cpu", ...'},
    {"strides", "t.strides", "How many elements apart neighbours are, one number a dimension."},
  },
  {
    title = "Methods of tensors: facts and elements", method = true,
    {"rank", "t:rank()", "Gives the number of dimensions."},
    {"numel", "t:numel()", "Gives the number of elements."},
    {"item", "t:item()", "Gives the one element of a tensor that has only one, as a number."},
    {"totable", "t:totable()", "Gives the elements as nested tables."},
    {"save", "t:save(path)", "Writes a .npy file, whole or not at all."},
    {"fill", "t:fill(x)", "Sets every element to the number x, in place."},
    {"copy", "t:copy(u)", "Copies the elements of u, which broadcasts, into t, in place."},
    {"clone", "t:clone()", "Makes a contiguous copy with memory of its own."},
    {"contiguous", "t:contiguous()", "Gives t if its elements lie in order without gaps, else a copy that does."},
    {"to", 't:to("float64" | "cpu" | ...)', "Converts to another type, or brings to another device."},
  },
  {
    title = "Methods of tensors: shapes", method = true,
    {"reshape", "t:reshape(n, m, ...)", "Gives the same elements under another shape; a view where possible. One extent may be -1."},
    {"transpose", "t:transpose(a, b)", "Swaps two dimensions; a view."},
    {"t", "t:t()", "Swaps the last two dimensions; a view."},
    {"permute", "t:permute(d1, d2, ...)", "Puts the dimensions in another order; a view."},
    {"squeeze", "t:squeeze(dim)", "Drops extents of 1; a view."},
    {"unsqueeze", "t:unsqueeze(dim)", "Puts in an extent of 1; a view."},
    {"expand", "t:expand(n, m, ...)", "Repeats extents of 1, and missing leading ones; a view."},
  },
  {
    title = "Methods of tensors: element by element", method = true,
    {"exp", "t:exp()", "e to the power of each element."},
    {"log", "t:log()", "The natural logarithm of each element."},
    {"sqrt", "t:sqrt()", "The square root of each element."},
    {"abs", "t:abs()", "The magnitude of each element."},
    {"tanh", "t:tanh()", "The hyperbolic tangent of each element."},
    {"sigmoid", "t:sigmoid()", "1 / (1 + exp(-x)) of each element."},
    {"relu", "t:relu()", "max(x, 0) of each element."},
    {"elu", "t:elu()", "x where x > 0, exp(x) - 1 elsewhere."},
    {"clamp", "t:clamp(lo, hi)", "Limits each element to lo..hi; nil is no limit."},
    {"minimum", "t:minimum(u)", "The smaller of two tensors, element by element; NaN wins."},
    {"maximum", "t:maximum(u)", "The larger of two tensors, element by element; NaN wins."},
    {"eq", "t:eq(u)", "1 where t = u, 0 elsewhere."},
    {"lt", "t:lt(u)", "1 where t < u, 0 elsewhere."},
    {"le", "t:le(u)", "1 where t <= u, 0 elsewhere."},
    {"gt", "t:gt(u)", "1 where t > u, 0 elsewhere."},
    {"ge", "t:ge(u)", "1 where t >= u, 0 elsewhere."},
  },
  {
    title = "Methods of tensors: sums and products", method = true,
    {"sum", "t:sum(dim, {keepdim=})", "Adds up one dimension, or everything."},
    {"mean", "t:mean(dim, {keepdim=})", "Averages one dimension, or everything."},
    {"max", "t:max(dim, {keepdim=})", "The largest element; with dim: values, positions."},
    {"min", "t:min(dim, {keepdim=})", "The smallest element; with dim: values, positions."},
    {"argmax", "t:argmax(dim, {keepdim=})", "Where the largest element is, the first of equals."},
    {"norm", "t:norm(dim, {keepdim=})", "The square root of the sum of squares."},
    {"softmax", "t:softmax(dim)", "Turns the slices along a dimension into weights that sum to 1."},
    {"cumsum", "t:cumsum(dim)", "Sums along a dimension, keeping each partial sum."},
    {"mm", "t:mm(u)", "Multiplies matrices [.., n, k] and [.., k, m], batched over leading dimensions."},
  },
  {
    title = "Stage 0: feature maps", global = true,
    {"phi", 'phi.elu1(t), phi("elu1")(t)', "Applies a feature map to each row, [.., D] -> [.., C] (eq 7)."},
    {"phis", "phis()", "Gives a table of the feature maps: equation, width, sign, derivative."},
  },
  {
    title = "The four stages", global = true,
    {"sim", 'sim(q, k, v, {by="softmax", causal=, scale=, eps=, lengths=, weights=, precision=, impl=})',
      "Stage 1: attention as a weighted average over all pairs, by any similarity (eq 3)."},
    {"assoc", 'assoc(q, k, v, {phi="elu1", eps=, lengths=, precision=, impl=})',
      "Stage 2: the same average with the product re-associated, O(N) (eqs 4-6)."},
    {"prefix", 'prefix(q, k, v, {phi="elu1", eps=, state=, chunk=, method=, precision=, impl=, final=})',
      "Stage 3: causal attention as a prefix sum, O(N) (eqs 8-12)."},
    {"rnn", 'rnn{D=, M=, H=, B=, phi="elu1", eps=, dtype=, device=}',
      "Stage 4: a recurrent cell with constant state S and z: step, run (eqs 16-20)."},
    {"kv", 'kv{D=, M=, H=, B=, scale=, dtype=, device=}',
      "Softmax's growing cache of keys and values, with the methods of an rnn."},
  },
  {
    title = "Recurrent cells and caches", method = true, cell = true,
    {"step", "st:step(q, k, v)", "Takes in one token, gives its output."},
    {"run", "st:run(q, k, v)", "Takes in a whole sequence, gives its outputs."},
    {"S", "st.S", "The sum of phi(k) v^T so far, as a fresh tensor."},
    {"z", "st.z", "The sum of phi(k) so far, as a fresh tensor."},
    {"bytes", "st:bytes()", "Gives the bytes of the state."},
    {"reset", "st:reset()", "Sets the state back to 0."},
    {"load", "rnn.load(path)", "Reads back a cell that st:save(path) wrote."},
  },
  {
    title = "Gradients", global = true,
    {"sim_grad", 'sim_grad(q, k, v, dout, {by="softmax", causal=, scale=, eps=, lengths=, precision=, impl=})', "The gradient of sim: dq, dk, dv."},
    {"assoc_grad", 'assoc_grad(q, k, v, dout, {phi="elu1", eps=, lengths=, precision=, impl=})', "The gradient of assoc: dq, dk, dv."},
    {"prefix_grad", 'prefix_grad(q, k, v, dout, {phi="elu1", eps=, state=, dstate=, chunk=, method=, precision=, impl=})',
      "The gradient of prefix (eqs 13-15): dq, dk, dv, and with opt.state also dstate0."},
    {"rnn_grad", 'rnn_grad(q, k, v, dout, {phi="elu1", eps=, state=, dstate=, precision=, impl=})',
      "The gradient of rnn's run: dq, dk, dv, and with opt.state also dstate0."},
    {"gradcheck", 'gradcheck("prefix", q, k, v, {phi=, by=, causal=, eps=, scale=, lengths=, state=, chunk=, method=, precision=, impl=, tol=})',
      "Checks a form's gradient against central differences in float64."},
  },
  {
    title = "Comparing", global = true,
    {"equiv", 'equiv(q, k, v, {phi=, by=, eps=, scale=, lengths=, state=, causal=, devices=, impls=, dtypes=, grad=, tol=})',
      "Runs every form that computes the same thing and compares it with the oracle."},
    {"tour", "tour()", "Walks a handwritten digit through the derivation, stage by stage."},
    {"backends", "backends()", "Lists the implementations: compiled, usable, and why not."},
    {"bench", 'bench(f, {runs=, warmup=, flops=, bytes=})', "Times f repeatedly: median, spread, operations and bytes per second."},
    {"time", "time(f)", "Times one call of f."},
  },
  {
    title = "Looking", global = true,
    {"show", "show(x, {digits=, full=})", "Shows a value; digits after the point, full: nothing left out."},
    {"help", 'help(), help("name"), help(value), ?name', "Says what there is, or how a name is used."},
    {"who", "who()", "Lists your own variables."},
  },
  {
    title = "About tarn",
    {"version", "tarn.version", "The version, a string."},
  },
}

local entries = {}
for _, entry in ipairs(require "tarn.help_entries") do entries[entry.key] = entry end

local by_name, globals = {}, {}
for _, topic in ipairs(topics) do
  for i, listed in ipairs(topic) do
    local entry = listed
    if type(listed) == "string" then
      entry = entries[listed]
      entry.name = listed:match("[%w_]+$")
    else
      entry.name, entry.signature, entry.sentence = entry[1], entry[2], entry[3]
    end
    topic[i], entry.topic = entry, topic
    by_name[entry.name] = by_name[entry.name] or entry
    if topic.global then globals[#globals + 1] = entry.name end
  end
end

return {topics = topics, by_name = by_name, globals = globals}
