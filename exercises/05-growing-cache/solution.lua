-- The growing cache beside the state. Chapter 5.
--
-- Softmax keeps all keys and values, linear attention keeps S and z. First answer the questions
-- below on paper, then write the rule, then measure it. Sizes: H heads, queries and keys of width
-- D, values of width M, features of width C = D (elu1), float32: 4 bytes a number. tarn keeps each
-- sum of a state in two levels (chapter 8), so its states are twice as large as S and z.

local answer = {}

-- The bytes of the cache and of the state after t tokens, by arithmetic.
function answer.bytes(H, D, M, t)
  --> todo
  --: return 0, 0
  return 4 * t * H * (D + M), 2 * 4 * H * (D * M + D)
  --< todo
end

-- The same two numbers, measured: a kv cache and an rnn read the tokens q, k [H, t, D], v [H, t, M],
-- in the type that these have, q.dtype. Give their bytes, and what both gave for the tokens, which
-- shows that they have really read them.
function answer.measured(q, k, v)
  --> todo
  --: return 0, 0, zeros(v.shape), zeros(v.shape)
  local sizes = {H = q.shape[1], D = q.shape[3], M = v.shape[3], dtype = q.dtype}
  local cache, st = kv(sizes), rnn(sizes)
  local softmax, linear = cache:run(q, k, v), st:run(q, k, v)
  return cache:bytes(), st:bytes(), softmax, linear
  --< todo
end

-- The first token after which the cache is at least as large as the state.
function answer.crossing(H, D, M)
  --> todo
  --: return 0
  local _, state = answer.bytes(H, D, M, 1)
  local token = answer.bytes(H, D, M, 1)
  return (state + token - 1) // token
  --< todo
end

-- How many sequences of t tokens can be written at the same time in `memory` bytes, by a model of
-- so many layers: with caches, and with states.
function answer.sequences(memory, layers, H, D, M, t)
  --> todo
  --: return 0, 0
  local cache, state = answer.bytes(H, D, M, t)
  return memory // (layers * cache), memory // (layers * state)
  --< todo
end

return answer
