-- All pairs at once.
local answer = {}

-- Gives Q, K, V, three tensors [2, 2] with entries from 1 to 9, for which the two differ.
function answer.counterexample()
  return tensor {{1, 2}, {2, 1}}, tensor {{1, 2}, {2, 1}}, tensor {{1, 3}, {5, 2}}
end

-- One example would not have been enough to believe it: gives Q, K, V for which both are the same.
-- Entries are whole numbers from 0 to 9, and no row of the three is all 0.
function answer.agreement()
  return tensor {{1, 1}, {0, 1}}, tensor {{1, 1}, {1, 1}}, tensor {{1, 1}, {0, 1}}
end

-- Some masks can be moved into the factors: rows of Q, K or V are multiplied by numbers first, then
-- Q (K^T V) is what ((Q K^T) * L) V is, whatever Q, K and V. Gives such an L: a tensor [2, 2] of
-- zeros and ones, with at least one of each.
function answer.movable()
  return tensor {{1, 0}, {1, 0}}
end

-- Makes ((Q K^T) * L) V for the mask whose every row is w [N], zeros and ones: which keys there
-- are at all. Q, K [N, C], V [N, M]. There may be 20,000 tokens: no square of them.
function answer.masked(Q, K, V, w)
  return (Q:mm(K:t()) * w:unsqueeze(1)):mm(V)
end

-- Before you run anything: six tokens. How many different sums S = sum_j k_j v_j^T are asked by the
-- queries, if every query sees all six keys; if query i sees keys 1 to i; if no query sees keys 5
-- and 6; if tokens 1 to 3 see each other and the others are causal? Gives four numbers.
function answer.sums()
  return 1, 6, 1, 4
end

return answer
