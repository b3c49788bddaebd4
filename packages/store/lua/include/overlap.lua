-- T9 Overlap, decided in the claim script on runs claimed and not yet ended for the first time.
local function blocker_of(base, id)
  for _, other in ipairs(redis.call('ZRANGE', base .. ':live', 0, 1)) do
    if other ~= id then return other end
  end
  return nil
end

local function is_backlog(cause)
  return cause == 'late' or cause == 'catch-up' or cause == 'backfill'
end

-- Where runs may overlap, backlog waits for backlog only: runs on time that follow each other closely would starve it.
local function backlog_blocker_of(base, id)
  for _, other in ipairs(redis.call('ZRANGE', base .. ':live', 0, 49)) do
    if other ~= id and is_backlog(redis.call('HGET', base .. ':slot:' .. other, 'cause')) then return other end
  end
  return nil
end

-- Chunks whose workers were told to stop and have not let go; the deadline is the job's timeout.
local function letting_go(base, now)
  redis.call('ZREMRANGEBYSCORE', base .. ':letting', '-inf', now)
  return redis.call('ZCARD', base .. ':letting') > 0
end

-- A redriven dead letter whose chunk is taken away is open again, as it was.
local function put_back_letters(base, id, chunk, now)
  local fields = redis.call('HMGET', chunk, 'redriven', 'states')
  if not fields[1] then return end
  for index, letter in ipairs(cjson.decode(fields[1])) do
    local state = string.sub(fields[2], index, index)
    local key = base .. ':dead:' .. letter
    if state ~= 'd' and state ~= 'x' and state ~= 'a' and redis.call('HGET', key, 'state') == 'redriven' then
      redis.call('HSET', key, 'state', 'open')
      redis.call('ZADD', base .. ':dead', now, letter)
      redis.call('ZADD', base .. ':views', now, letter)
      redis.call('HINCRBY', base .. ':slot:' .. id, 'letters', 1)
      redis.call('HINCRBY', base .. ':slot:' .. id, redis.call('HGET', key, 'reason') == 'abandoned' and 'abandoned' or 'dead', 1)
    end
  end
end

-- Ends a live run at once in the ledger: what it has not done is skipped, its fences are raised, its chunks are gone. Its plan
-- is closed for good, so that a redrive of its dead letters runs those and no more; its numbers stay, so that no old fence fits.
local function cancel(base, id, now, reason, timeout)
  local slot, plan = base .. ':slot:' .. id, plan_key(base, id)
  if state_of(base, id) ~= 'running' then
    drop(base, id, 'skipped', now, reason)
    return
  end
  for _, number in ipairs(redis.call('ZRANGE', base .. ':chunks:' .. id, 0, -1)) do
    local chunk = chunk_key(base, id, number)
    local holder = redis.call('HGET', chunk, 'holder')
    if holder and holder ~= '' then redis.call('ZADD', base .. ':letting', now + timeout, id .. ':' .. number) end
    put_back_letters(base, id, chunk, now)
    redis.call('DEL', chunk)
    redis.call('PEXPIRE', base .. ':receipts:' .. id .. ':' .. number, RETENTION_MS)
  end
  redis.call('DEL', base .. ':chunks:' .. id)
  redis.call('HINCRBY', plan, 'fence', 1)
  local counts = redis.call('HMGET', slot, 'planned', 'done', 'dead', 'abandoned')
  local ended = tonumber(counts[2] or 0) + tonumber(counts[3] or 0) + tonumber(counts[4] or 0)
  local skipped = tonumber(counts[1] or 0) - ended
  redis.call('HSET', slot, 'skipped', skipped)
  -- What was cut short is no success, whatever becomes of its dead letters.
  if skipped > 0 or redis.call('HGET', plan, 'complete') ~= '1' then redis.call('HSET', plan, 'failed', 1) end
  redis.call('HSET', plan, 'complete', 1, 'paused', 0, 'closed', redis.call('HGET', plan, 'written') or 0)
  drop(base, id, ended > 0 and 'partial' or 'skipped', now, reason)
  finish(base, id, now, ended > 0)
end

-- May this slot start now? Answers take, or the verdict where not; records what the policy drops.
local function admit(base, slot, now, policy)
  if policy.name == 'allow' then
    return slot.backlog and backlog_blocker_of(base, slot.id) and 'behind' or 'take'
  end
  local blocker = blocker_of(base, slot.id)
  if not blocker and not letting_go(base, now) then return 'take' end
  -- Backlog and backfill queue one after another, whatever the policy.
  if slot.backlog then return 'behind' end
  if policy.name == 'skip' then
    if slot.create then slot.create() end
    drop(base, slot.id, 'skipped', now, 'overlap: ' .. (blocker or 'the previous run') .. ' has not ended')
    return 'skipped'
  end
  -- queue, cancel-previous: one waits, the newest.
  for _, other in ipairs(redis.call('ZRANGE', base .. ':open', 0, 99)) do
    if other ~= slot.id and redis.call('HGET', base .. ':slot:' .. other, 'waiting') == '1' then
      drop(base, other, 'skipped', now, 'overlap: ' .. slot.id .. ' is newer and waits in its place')
    end
  end
  if slot.create then slot.create() end
  if not state_of(base, slot.id) then transition(base, slot.id, 'due', now, { reason = 'overlap: waits for ' .. (blocker or 'the cancelled run') }) end
  redis.call('HSET', base .. ':slot:' .. slot.id, 'waiting', 1)
  if policy.name == 'cancel-previous' then
    for _, other in ipairs(redis.call('ZRANGE', base .. ':live', 0, 99)) do
      if other ~= slot.id then cancel(base, other, now, 'cancelled: ' .. slot.id .. ' is due', policy.timeout) end
    end
    if not letting_go(base, now) then return 'take' end
  end
  return 'waiting'
end
