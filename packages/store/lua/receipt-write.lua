-- R1: writes, renews or gives back a lease. Needs the lease's token only, so that a true effect is never disowned.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 slot id  3 chunk number  4 field  5 token  6 what (done, renew, release)  7 result JSON or lease ms
-- Answer: written | already (another wrote it, or the chunk has folded) | lost (the lease is another's)
-- include: time, fence
local base, id = KEYS[1], ARGV[2]
local now = read_time(ARGV[1])
-- The chunk's own receipts, and those kept of entities that died while an effect of theirs was under way.
local own, kept = base .. ':receipts:' .. id .. ':' .. ARGV[3], base .. ':kept:' .. id
local holds = nil
for _, key in ipairs({ own, kept }) do
  local value = redis.call('HGET', key, ARGV[4])
  if value and string.sub(value, 1, 1) == 'd' then return 'already' end
  if value and string.match(value, '^l([^|]*)|') == ARGV[5] then
    holds = holds or {}
    holds[#holds + 1] = key
  end
end
-- R3: nothing holds the lease: the chunk has folded, or it is another's.
if not holds then return redis.call('EXISTS', chunk_key(base, id, ARGV[3])) == 0 and 'already' or 'lost' end
for _, key in ipairs(holds) do
  if ARGV[6] == 'done' then
    redis.call('HSET', key, ARGV[4], 'd' .. ARGV[7])
  elseif ARGV[6] == 'renew' then
    redis.call('HSET', key, ARGV[4], 'l' .. ARGV[5] .. '|' .. (now + tonumber(ARGV[7])))
  else
    redis.call('HDEL', key, ARGV[4])
  end
end
return 'written'
