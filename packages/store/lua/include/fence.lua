-- A3: the newest fence may write, nobody else. W1: whoever is fenced off acknowledges and goes.
local function plan_key(base, id) return base .. ':plan:' .. id end
local function chunk_key(base, id, number) return base .. ':chunk:' .. id .. ':' .. number end

local function holds_plan(base, id, fence)
  return redis.call('HGET', plan_key(base, id), 'fence') == fence
end

-- held | fenced | closed (settled before, its members are gone)
local function chunk_standing(base, id, number, fence)
  local current = redis.call('HGET', chunk_key(base, id, number), 'fence')
  if not current then return 'closed' end
  return current == fence and 'held' or 'fenced'
end
