-- W2: a step that has written enough stops. Where it stops for room, the chunk that makes room adds the next one; where it stops
-- for time, it adds the next one itself, so that no step holds a place on the queue for long. Fence-checked.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 slot id  3 fence  4 why (room, time)
-- Answer: { status, step }
--   status  paused | continue (chunks settled meanwhile: go on) | next (add this step) | fenced
-- include: time, transition, fence, run
local base, id = KEYS[1], ARGV[2]
local now = read_time(ARGV[1])
if not holds_plan(base, id, ARGV[3]) then return { 'fenced', 0 } end
redis.call('HSET', plan_key(base, id), 'fruitless', 0)
if ARGV[4] == 'time' then
  redis.call('HSET', plan_key(base, id), 'touchedAt', now)
  return { 'next', redis.call('HINCRBY', plan_key(base, id), 'step', 1) }
end
redis.call('HSET', plan_key(base, id), 'paused', 1, 'touchedAt', now)
-- Looked at after the pause is set: a chunk that settled before it found no pause and added nothing.
local step = next_step(base, id)
return { step > 0 and 'continue' or 'paused', step }
