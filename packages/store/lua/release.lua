-- T2: an add that surely added nothing gives its claim back, by compare-and-delete of the token.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 token  3 slot id  4 reason
-- Answer: released | lost (the claim is another's by now)
-- include: time, transition
local base = KEYS[1]
local now = read_time(ARGV[1])
local key = base .. ':claim:' .. ARGV[3]
local held = redis.call('GET', key)
if not held or string.match(held, '^([^|]*)|') ~= ARGV[2] then return 'lost' end
redis.call('DEL', key)
transition(base, ARGV[3], 'due', now, { reason = ARGV[4] })
return 'released'
