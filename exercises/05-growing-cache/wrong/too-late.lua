-- Rounded down, and one added in any case.
local answer = {}

-- The bytes of the cache and of the state after t tokens, by arithmetic.
function answer.bytes(H, D, M, t)
  return 4 * t * H * (D + M), 2 * 4 * H * (D * M + D)
end

-- The same two numbers, from a kv cache and an rnn that have really read t tokens.
function answer.measured(H, D, M, t)
  local sizes = {H = H, D = D, M = M}
  local cache, st = kv(sizes), rnn(sizes)
  local q, v = zeros(H, t, D), zeros(H, t, M)
  cache:run(q, q, v)
  st:run(q, q, v)
  return cache:bytes(), st:bytes()
end

-- The first token after which the cache is at least as large as the state.
function answer.crossing(H, D, M)
  local _, state = answer.bytes(H, D, M, 1)
  local token = answer.bytes(H, D, M, 1)
  return state // token + 1
end

-- How many sequences of t tokens can be written at the same time in `memory` bytes, by a model of
-- so many layers: with caches, and with states.
function answer.sequences(memory, layers, H, D, M, t)
  local cache, state = answer.bytes(H, D, M, t)
  return memory // (layers * cache), memory // (layers * state)
end

return answer
