-- The only code that changes a slot's state. TRANSITIONS, PHASES and INITIAL come from core's one table (run-state.ts).
-- Refused changes answer nil and write nothing, so that a late or repeated message is harmless.
local EVENTS_KEPT = 200

local function note(base, id, now, event, detail)
  local key = base .. ':events:' .. id
  local entry = detail or {}
  entry.at = now
  entry.event = event
  if redis.call('RPUSH', key, cjson.encode(entry)) > EVENTS_KEPT then redis.call('LPOP', key) end
end

local function state_of(base, id)
  return redis.call('HGET', base .. ':slot:' .. id, 'state') or nil
end

-- facts: fields and values to be written with the state. A slot's first change has its instant, `at`, as the first of them or
-- written before it.
local function transition(base, id, to, now, detail, facts)
  local key = base .. ':slot:' .. id
  local stored = redis.call('HMGET', key, 'state', 'at')
  local from = stored[1] or nil
  if from then
    if not string.find(TRANSITIONS[from], ' ' .. to .. ' ', 1, true) then return nil end
  elseif not INITIAL[to] then
    return nil
  end
  redis.call('HSET', key, 'state', to, unpack(facts or {}))
  local at = stored[2] or facts[2]
  if not from then redis.call('ZADD', base .. ':slots', at, id) end
  local phase, past = PHASES[to], from and PHASES[from]
  if past ~= phase then
    if past == 'open' or past == 'active' then redis.call('ZREM', base .. ':' .. past, id) end
    if phase == 'open' or phase == 'active' then redis.call('ZADD', base .. ':' .. phase, at, id) end
  end
  -- T9: a run is live from its claim to its first end. No expiry: a worker that dies frees nothing, its run goes on elsewhere.
  -- A redrive does not re-enter.
  if to == 'claimed' or (to == 'running' and past == 'open') then
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
