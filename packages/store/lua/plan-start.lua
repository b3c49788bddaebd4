-- W1 Start of a plan step: gives a fence, counts starts, moves the run to running. A start on what is ended, dropped, in a gap,
-- or at or below the watermark without a record of its own (folded) is acknowledged without effect.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 slot id  3 instant  4 worker  5 release  6 has a done handler (0, 1)  7 most chunks open at once
-- Answer: { status, now, fence, cursor, written, closed, complete, effective, cause, attempts, then the numbers of open chunks }
--   status  run | planned (the plan is complete; re-add the open chunks) | ended | folded | refused (no record: nothing to run)
--           | paused (hand it back) | crashing (it took its workers down: fail it, W6)
-- include: time, transition, watermark, fence
local MOST_FRUITLESS = 20
local base, id = KEYS[1], ARGV[2]
local now = read_time(ARGV[1])
local slot = base .. ':slot:' .. id
local state = state_of(base, id)
if not state then
  local watermark = tonumber(redis.call('HGET', base .. ':job', 'watermark') or -1)
  return { tonumber(ARGV[3]) <= watermark and 'folded' or 'refused', now }
end
if PHASES[state] == 'ended' or PHASES[state] == 'dropped' then return { 'ended', now } end
local key = plan_key(base, id)
if state ~= 'running' then
  -- T10: a pause stops starts, claimed ones included, never a running run. A run by hand was asked for.
  local paused = redis.call('HGET', base .. ':job', 'paused')
  if paused and not is_manual(id) then return { 'paused', now } end
  local use_by = redis.call('HGET', slot, 'useBy')
  if use_by and tonumber(use_by) < now then
    drop(base, id, 'skipped', now, 'expired: not started by its use-by')
    return { 'ended', now }
  end
  if not transition(base, id, 'running', now, { by = ARGV[4], release = ARGV[5] }) then return { 'ended', now } end
end
-- A redriven run is running already, and may never have been started.
if redis.call('HSETNX', slot, 'startedAt', now) == 1 then
  local effective = tonumber(redis.call('HGET', slot, 'effective'))
  redis.call('HSET', slot, 'latenessMs', math.max(0, now - effective), 'startedBy', ARGV[4])
  for _, field in ipairs({ 'written', 'closed', 'complete', 'step' }) do redis.call('HSETNX', key, field, 0) end
end
redis.call('HINCRBY', slot, 'starts', 1)
local fence = redis.call('HINCRBY', key, 'fence', 1)
-- A step that ends, well or badly, or writes a page, sets this back: what is left are workers that died reading the source.
local fruitless = redis.call('HINCRBY', key, 'fruitless', 1)
redis.call('HSET', key, 'hasDone', ARGV[6], 'bound', ARGV[7], 'paused', 0, 'touchedAt', now)
local plan = redis.call('HMGET', key, 'cursor', 'written', 'closed', 'complete', 'attempts')
local facts = redis.call('HMGET', slot, 'effective', 'cause')
local status = plan[4] == '1' and 'planned' or (fruitless > MOST_FRUITLESS and 'crashing' or 'run')
local answer = { status, now, fence, plan[1] or '', tonumber(plan[2]), tonumber(plan[3]),
  tonumber(plan[4]), tonumber(facts[1]), facts[2], tonumber(plan[5] or 0) }
for _, number in ipairs(redis.call('ZRANGE', base .. ':chunks:' .. id, 0, 499)) do answer[#answer + 1] = tonumber(number) end
return answer
