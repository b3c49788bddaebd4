-- R4 A forced re-run of an ended run: plans again from the source, and skips by the fold what is in it. Refused once the fold
-- has expired, for then nothing says what was done.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 slot id  3 by  4 why or ''
-- Answer: { status, now, state, plan step to add }
--   status  walking | busy (not ended) | expired (no fold) | unknown
-- include: time, transition, fence
local base, id = KEYS[1], ARGV[2]
local now = read_time(ARGV[1])
local state = state_of(base, id)
if not state then return { 'unknown', now, '', 0 } end
if PHASES[state] ~= 'ended' then return { 'busy', now, state, 0 } end
local plan = plan_key(base, id)
if redis.call('EXISTS', plan, base .. ':members:' .. id) < 2 then return { 'expired', now, state, 0 } end
if not transition(base, id, 'running', now, { by = ARGV[3], why = ARGV[4] ~= '' and ARGV[4] or nil, forced = 1 }) then
  return { 'busy', now, state, 0 }
end
redis.call('HSET', base .. ':slot:' .. id, 'doneState', '')
redis.call('ZREM', base .. ':done', id)
redis.call('HSET', plan, 'cursor', '', 'complete', 0, 'failed', 0, 'attempts', 0, 'paused', 0, 'touchedAt', now)
redis.call('HINCRBY', plan, 'fence', 1)
return { 'walking', now, state, redis.call('HINCRBY', plan, 'step', 1) }
