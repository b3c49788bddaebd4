-- R1: writes, renews or gives back a lease. Needs the lease's token only, so that a true effect is never disowned.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 slot id  3 chunk number  4 field  5 token  6 what (done, renew, release)  7 result JSON or lease ms
-- Answer: written | already (another wrote it, or the chunk has folded) | lost (the lease is another's)
-- include: time, fence
local base, id = KEYS[1], ARGV[2]
local now = read_time(ARGV[1])
local key = base .. ':receipts:' .. id .. ':' .. ARGV[3]
-- R3: the fold is looked at again, for an owner that wakes after its chunk was settled by another.
if redis.call('EXISTS', chunk_key(base, id, ARGV[3])) == 0 then return 'already' end
local value = redis.call('HGET', key, ARGV[4])
if value and string.sub(value, 1, 1) == 'd' then return 'already' end
if not value or string.match(value, '^l([^|]*)|') ~= ARGV[5] then return 'lost' end
if ARGV[6] == 'done' then
  redis.call('HSET', key, ARGV[4], 'd' .. ARGV[7])
elseif ARGV[6] == 'renew' then
  redis.call('HSET', key, ARGV[4], 'l' .. ARGV[5] .. '|' .. (now + tonumber(ARGV[7])))
else
  redis.call('HDEL', key, ARGV[4])
end
return 'written'
