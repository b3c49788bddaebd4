-- W7: `done` runs for the newest outcome only, at least once, with attempts of its own.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 slot id  3 outcome version  4 worker  5 token
-- Answer: { status, now, attempt, then the slot's fields and values }
--   status  run | stale (a newer outcome, or done already)
-- include: time, transition
local base, id = KEYS[1], ARGV[2]
local now = read_time(ARGV[1])
local slot = base .. ':slot:' .. id
local fields = redis.call('HMGET', slot, 'version', 'doneState')
if fields[1] ~= ARGV[3] or fields[2] ~= 'due' then return { 'stale', now, 0 } end
-- A connection that lost the answer asks again: the attempt is its own.
local attempt = tonumber(redis.call('HGET', slot, 'doneAttempts') or 0)
if redis.call('HGET', slot, 'doneToken') ~= ARGV[5] then
  attempt = redis.call('HINCRBY', slot, 'doneAttempts', 1)
  redis.call('HSET', slot, 'doneToken', ARGV[5])
end
local answer = { 'run', now, attempt }
for _, value in ipairs(redis.call('HGETALL', slot)) do answer[#answer + 1] = value end
return answer
