-- R4 A forced re-run of an ended run: plans again from the source, and skips by the fold what is in it. Refused once the fold
-- has expired, for then nothing says what was done.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 slot id  3 by  4 why or ''  then the ids of the run's own dead letters: of its plan, of its done
-- Answer: { status, now, state, plan step to add }
--   status  walking | busy (not ended) | expired (no fold) | cancelled (some of what the fold has was never done) | unknown
-- include: time, transition, fence, dead-letter
local base, id = KEYS[1], ARGV[2]
local now = read_time(ARGV[1])
local state = state_of(base, id)
if not state then return { 'unknown', now, '', 0 } end
if PHASES[state] ~= 'ended' then return { 'busy', now, state, 0 } end
local plan = plan_key(base, id)
local slot = base .. ':slot:' .. id
local counts = redis.call('HMGET', slot, 'planned', 'skipped', 'startedAt')
-- What was never started, or planned nothing, has no fold and nothing that could be done twice.
local folded = tonumber(counts[1] or 0) == 0 or redis.call('EXISTS', base .. ':members:' .. id) == 1
if counts[3] and (redis.call('EXISTS', plan) == 0 or not folded) then return { 'expired', now, state, 0 } end
if tonumber(counts[2] or 0) > 0 then return { 'cancelled', now, state, 0 } end
if not transition(base, id, 'running', now, { by = ARGV[3], why = ARGV[4] ~= '' and ARGV[4] or nil, forced = 1 }) then
  return { 'busy', now, state, 0 }
end
redis.call('HSET', slot, 'doneState', '')
redis.call('HDEL', slot, 'queue', 'payload', 'unserved', 'unservedAt', 'unservedMark')
redis.call('ZREM', base .. ':done', id)
for index = 5, #ARGV do supersede(base, ARGV[index], now) end
-- R5: kept from the run's last activity on; until it ends again, nothing of it may go.
for _, key in ipairs({ plan, base .. ':members:' .. id, base .. ':kept:' .. id }) do redis.call('PERSIST', key) end
redis.call('HSET', plan, 'cursor', '', 'complete', 0, 'failed', 0, 'attempts', 0, 'paused', 0, 'touchedAt', now,
  'walks', 'again')
redis.call('HINCRBY', plan, 'fence', 1)
return { 'walking', now, state, redis.call('HINCRBY', plan, 'step', 1) }
