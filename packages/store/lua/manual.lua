-- T11 A run by hand: an identity of its own, with an ordinal from this script, under a request id that makes a repeat the same run.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 instant in slot form without ordinal  3 instant  4 token  5 lease ms  6 by  7 release  8 request id
--      9 why or ''
-- Answer: { status, now, slot id }
--   status  claimed | repeated (this request id has its run)
-- include: time, transition
-- For how long a repeat of a request is the same run.
local REQUEST_KEPT_MS = 7 * 24 * 3600 * 1000
local base = KEYS[1]
local now = read_time(ARGV[1])
local request = base .. ':request:' .. ARGV[8]
local earlier = redis.call('GET', request)
if earlier then return { 'repeated', now, earlier } end
local ordinal = 1
while redis.call('EXISTS', base .. ':slot:' .. ARGV[2] .. '+manual-' .. ordinal) == 1 do ordinal = ordinal + 1 end
local id = ARGV[2] .. '+manual-' .. ordinal
local slot = base .. ':slot:' .. id
redis.call('HSET', slot, 'at', ARGV[3], 'effective', ARGV[3], 'cause', 'manual', 'claimedBy', ARGV[6], 'claimedAt', now,
  'release', ARGV[7])
if ARGV[9] ~= '' then redis.call('HSET', slot, 'why', ARGV[9]) end
transition(base, id, 'claimed', now, { by = ARGV[6], why = ARGV[9] ~= '' and ARGV[9] or nil })
redis.call('SET', base .. ':claim:' .. id, ARGV[4] .. '|' .. (now + tonumber(ARGV[5])) .. '|' .. ARGV[6], 'PX', tonumber(ARGV[5]) * 10)
redis.call('SET', request, id, 'PX', REQUEST_KEPT_MS)
return { 'claimed', now, id }
