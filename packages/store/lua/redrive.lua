-- W8 Redrive: the open dead letters given become members of a new chunk of their run, with fresh attempts and the same
-- identity. The sum gives them up in the same script, so it adds up at every moment.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 slot id  3 by  4 abandoned too (0, 1)  5 id of the dead letter of the run's `done`, whether or not there is one
--      6 last death at this instant or before, '' for any: what dies again meanwhile is not chased
--      then the ids of the dead letters (at most 100)
-- Answer: { status, now, redriven, chunk number or -1, plan step to add or 0, outcome version whose done is due again or 0 }
--   status  redriven | none (nothing of it is open: queued already, resolved or discarded) | unknown (no such run)
-- include: time, transition, fence, dead-letter
local base, id = KEYS[1], ARGV[2]
local now = read_time(ARGV[1])
local slot = base .. ':slot:' .. id
local state = state_of(base, id)
if not state then return { 'unknown', now, 0, -1, 0, 0 } end
local members, ids, counts = {}, {}, { dead = 0, abandoned = 0 }
-- W4: attempts go on counting over redrives; `b` is where this life began.
local attempts = {}
local plan_dead, done_dead
local until_at = tonumber(ARGV[6]) or math.huge
for index = 7, #ARGV do
  local dead = base .. ':dead:' .. ARGV[index]
  local fields = redis.call('HMGET', dead, 'state', 'reason', 'entity', 'payload', 'attempts', 'at')
  if (tonumber(fields[6]) or 0) > until_at then fields[1] = 'younger' end
  local abandoned = fields[2] == 'abandoned'
  -- T, states: what was abandoned may have had its effect; it is repeated only when asked for by name.
  if fields[1] == 'open' and not fields[3] and (fields[2] == 'plan' or fields[2] == 'no handler') then plan_dead = ARGV[index] end
  if fields[1] == 'open' and fields[2] == 'done' then done_dead = ARGV[index] end
  if fields[1] == 'open' and fields[3] and (not abandoned or ARGV[4] == '1') then
    members[#members + 1] = '[' .. cjson.encode(fields[3]) .. ',' .. (fields[4] or 'null') .. ']'
    for _, field in ipairs({ 'a', 'b' }) do
      attempts[#attempts + 1] = field .. #ids
      attempts[#attempts + 1] = tonumber(fields[5] or 0)
    end
    ids[#ids + 1] = ARGV[index]
    local count = abandoned and 'abandoned' or 'dead'
    counts[count] = counts[count] + 1
  end
end

local function reopen(dead)
  close_letter(base, dead, now)
  redis.call('HSET', base .. ':dead:' .. dead, 'state', 'redriven', 'redrivenAt', now, 'redrivenBy', ARGV[3])
end

-- A `done` that failed changes no outcome: it is due again as it was.
if done_dead and #members == 0 and not plan_dead then
  -- While the run is on its way again, its outcome is not the one that `done` failed for.
  if state == 'running' then return { 'none', now, 0, -1, 0, 0 } end
  reopen(done_dead)
  redis.call('HSET', slot, 'doneState', 'due', 'doneAttempts', 0)
  redis.call('ZADD', base .. ':done', now, id)
  return { 'redriven', now, 1, -1, 0, tonumber(redis.call('HGET', slot, 'version')) }
end
local plan = plan_key(base, id)
-- R5: a plan that is gone, with its fold, cannot be gone on with: it would plan again what was done.
if plan_dead and redis.call('EXISTS', plan) == 0 and redis.call('HEXISTS', slot, 'startedAt') == 1 then plan_dead = nil end
if #members == 0 and not plan_dead then return { 'none', now, 0, -1, 0, 0 } end
if state ~= 'running' and not transition(base, id, 'running', now, { by = ARGV[3], redriven = #members }) then
  return { 'none', now, 0, -1, 0, 0 }
end
redis.call('HSET', slot, 'doneState', '')
-- It goes on where the definition says by now.
redis.call('HDEL', slot, 'queue', 'payload', 'unserved', 'unservedAt', 'unservedMark')
-- W7: `done` runs again for the newer outcome, and only the newest runs.
supersede(base, ARGV[5], now)
redis.call('ZREM', base .. ':done', id)
local step, number = 0, -1
-- A dead letter outlives its run's plan: what is left of it is that it was complete.
if redis.call('EXISTS', plan) == 0 then
  redis.call('HSET', plan, 'complete', 1, 'written', 0, 'closed', 0, 'step', 0, 'paused', 0, 'bound', 1)
end
for _, key in ipairs({ plan, base .. ':members:' .. id, base .. ':kept:' .. id }) do redis.call('PERSIST', key) end
if plan_dead then
  reopen(plan_dead)
  redis.call('HSET', plan, 'complete', 0, 'failed', 0, 'attempts', 0, 'fruitless', 0, 'paused', 0, 'letter', plan_dead)
  step = redis.call('HINCRBY', plan, 'step', 1)
end
if #members > 0 then
  for _, dead in ipairs(ids) do reopen(dead) end
  number = redis.call('HINCRBY', plan, 'written', 1) - 1
  redis.call('HSET', chunk_key(base, id, number), 'members', '[' .. table.concat(members, ',') .. ']',
    'states', string.rep('r', #members), 'left', #members, 'fence', 0, 'redriven', cjson.encode(ids), unpack(attempts))
  redis.call('ZADD', base .. ':chunks:' .. id, now, number)
  redis.call('HINCRBY', slot, 'dead', 0 - counts.dead)
  redis.call('HINCRBY', slot, 'abandoned', 0 - counts.abandoned)
end
return { 'redriven', now, #members + (plan_dead and 1 or 0), number, step, 0 }
