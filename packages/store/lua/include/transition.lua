-- The only code that changes a slot's state. TRANSITIONS, PHASES and INITIAL come from core's one table (run-state.ts).
-- Refused changes answer nil and write nothing, so that a late or repeated message is harmless.
local EVENTS_KEPT = 200

local function note(base, id, now, event, detail)
  local key = base .. ':events:' .. id
  if redis.call('LLEN', key) >= EVENTS_KEPT then return end
  local entry = detail or {}
  entry.at = now
  entry.event = event
  redis.call('RPUSH', key, cjson.encode(entry))
end

local function state_of(base, id)
  return redis.call('HGET', base .. ':slot:' .. id, 'state') or nil
end

local function transition(base, id, to, now, detail)
  local key = base .. ':slot:' .. id
  local from = redis.call('HGET', key, 'state') or nil
  if from then
    if not TRANSITIONS[from][to] then return nil end
  elseif not INITIAL[to] then
    return nil
  end
  redis.call('HSET', key, 'state', to)
  local at = redis.call('HGET', key, 'at')
  if not from then redis.call('ZADD', base .. ':slots', at, id) end
  local phase = PHASES[to]
  if phase == 'open' then
    redis.call('ZADD', base .. ':open', at, id)
  else
    redis.call('ZREM', base .. ':open', id)
  end
  if phase == 'active' then
    redis.call('ZADD', base .. ':active', at, id)
  else
    redis.call('ZREM', base .. ':active', id)
  end
  -- T9: a run is live from its claim to its first end. No expiry: a worker that dies frees nothing, its run goes on elsewhere.
  -- A redrive does not re-enter.
  if to == 'claimed' or (to == 'running' and PHASES[from] == 'open') then
    redis.call('ZADD', base .. ':live', at, id)
  elseif phase == 'ended' or phase == 'dropped' or to == 'due' then
    redis.call('ZREM', base .. ':live', id)
  end
  note(base, id, now, to, detail)
  return from or 'none'
end

-- Records why a slot did not run, or did not succeed, with the change of state that says so.
local function drop(base, id, to, now, reason)
  local from = transition(base, id, to, now, { reason = reason })
  if from then redis.call('HSET', base .. ':slot:' .. id, 'reason', reason) end
  return from
end
