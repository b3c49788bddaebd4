-- W2: a step that has written enough stops; the chunk that makes room adds the next one. Fence-checked.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 slot id  3 fence
-- Answer: { status, step }
--   status  paused | continue (chunks settled meanwhile: go on) | fenced
-- include: time, transition, fence, run
local base, id = KEYS[1], ARGV[2]
local now = read_time(ARGV[1])
if not holds_plan(base, id, ARGV[3]) then return { 'fenced', 0 } end
redis.call('HSET', plan_key(base, id), 'paused', 1, 'touchedAt', now)
-- Looked at after the pause is set: a chunk that settled before it found no pause and added nothing.
local step = next_step(base, id)
return { step > 0 and 'continue' or 'paused', step }
