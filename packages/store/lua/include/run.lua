-- W7: whoever closes the last of {plan, chunks} ends the run. Counts change only with the outcome they count.
local RETENTION_MS = 30 * 24 * 3600 * 1000

local function outcome_of(counts)
  if counts.dead + counts.abandoned == 0 and not counts.planFailed then return 'succeeded' end
  if counts.done > 0 then return 'partial' end
  if counts.dead > 0 or counts.planFailed then return 'failed' end
  return 'abandoned'
end

-- What follows an outcome: its version, `done` where the run has one, and for how long its plan and fold are kept. What dead
-- letters may still need stays until they are gone (R5).
local function finish(base, id, now, with_done)
  local slot, plan = base .. ':slot:' .. id, plan_key(base, id)
  local version = redis.call('HINCRBY', slot, 'version', 1)
  redis.call('HSET', slot, 'finishedAt', now)
  if with_done and redis.call('HGET', plan, 'hasDone') == '1' then
    redis.call('HSET', slot, 'doneState', 'due', 'doneAttempts', 0)
    redis.call('ZADD', base .. ':done', now, id)
  end
  local letters = tonumber(redis.call('HGET', slot, 'letters') or 0)
  for _, key in ipairs({ plan, base .. ':members:' .. id, base .. ':kept:' .. id }) do
    if letters > 0 then redis.call('PERSIST', key) else redis.call('PEXPIRE', key, RETENTION_MS) end
  end
  return version
end

-- Ends the run if nothing of it is open. Answers the state it ended in and its outcome version, or nil.
local function end_if_closed(base, id, now)
  local plan = redis.call('HMGET', plan_key(base, id), 'complete', 'written', 'closed', 'failed')
  if plan[1] ~= '1' or plan[2] ~= plan[3] then return nil end
  local counts = redis.call('HMGET', base .. ':slot:' .. id, 'done', 'dead', 'abandoned')
  local state = outcome_of({ done = tonumber(counts[1] or 0), dead = tonumber(counts[2] or 0),
    abandoned = tonumber(counts[3] or 0), planFailed = plan[4] == '1' })
  if not transition(base, id, state, now) then return nil end
  return state, finish(base, id, now, true)
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
