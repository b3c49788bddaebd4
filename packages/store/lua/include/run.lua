-- W7: whoever closes the last of {plan, chunks} ends the run. Counts change only with the outcome they count.
local RETENTION_MS = 30 * 24 * 3600 * 1000

local function outcome_of(counts)
  if counts.dead + counts.abandoned == 0 and not counts.planFailed then return 'succeeded' end
  if counts.done > 0 then return 'partial' end
  if counts.dead > 0 or counts.planFailed then return 'failed' end
  return 'abandoned'
end

-- Ends the run if nothing of it is open. Answers the state it ended in and its outcome version, or nil.
local function end_if_closed(base, id, now)
  local plan = redis.call('HMGET', plan_key(base, id), 'complete', 'written', 'closed', 'hasDone', 'failed')
  if plan[1] ~= '1' or plan[2] ~= plan[3] then return nil end
  local slot = base .. ':slot:' .. id
  local counts = redis.call('HMGET', slot, 'done', 'dead', 'abandoned', 'startedAt')
  local state = outcome_of({ done = tonumber(counts[1] or 0), dead = tonumber(counts[2] or 0),
    abandoned = tonumber(counts[3] or 0), planFailed = plan[5] == '1' })
  local version = tonumber(redis.call('HGET', slot, 'version') or 0) + 1
  if not transition(base, id, state, now, { version = version }) then return nil end
  redis.call('HSET', slot, 'finishedAt', now, 'version', version)
  if plan[4] == '1' then
    redis.call('HSET', slot, 'doneState', 'due', 'doneAttempts', 0)
    redis.call('ZADD', base .. ':done', now, id)
  end
  for _, key in ipairs({ plan_key(base, id), base .. ':members:' .. id, base .. ':kept:' .. id }) do
    redis.call('PEXPIRE', key, RETENTION_MS)
  end
  return state, version
end

-- When few enough chunks are open, a paused plan goes on: answers the number of the step to add, or 0 (W2).
local function next_step(base, id)
  local key = plan_key(base, id)
  local plan = redis.call('HMGET', key, 'paused', 'written', 'closed', 'bound', 'complete')
  if plan[1] ~= '1' or plan[5] == '1' then return 0 end
  if tonumber(plan[2]) - tonumber(plan[3]) > tonumber(plan[4]) / 2 then return 0 end
  redis.call('HSET', key, 'paused', 0)
  return redis.call('HINCRBY', key, 'step', 1)
end
