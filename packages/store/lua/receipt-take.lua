-- R1: is this effect still to do? One script checks the fence and takes the lease.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 slot id  3 chunk number  4 fence  5 field (entity key, newline, effect)  6 token  7 lease ms
-- Answer: { status, now, lease end or 0, stored result or '' }
--   status  taken | done | leased (elsewhere: wait) | fenced
-- include: time, fence
local base, id = KEYS[1], ARGV[2]
local now = read_time(ARGV[1])
if chunk_standing(base, id, ARGV[3], ARGV[4]) ~= 'held' then return { 'fenced', now, 0, '' } end
local key = base .. ':receipts:' .. id .. ':' .. ARGV[3]
local value = redis.call('HGET', key, ARGV[5]) or redis.call('HGET', base .. ':kept:' .. id, ARGV[5])
if value then
  if string.sub(value, 1, 1) == 'd' then return { 'done', now, 0, string.sub(value, 2) } end
  local until_at = tonumber(string.match(value, '^l[^|]*|(%d+)'))
  -- A connection that lost the answer asks again: the lease is its own.
  if string.match(value, '^l([^|]*)|') == ARGV[6] then return { 'taken', now, until_at, '' } end
  if until_at > now then return { 'leased', now, until_at, '' } end
end
local until_at = now + tonumber(ARGV[7])
redis.call('HSET', key, ARGV[5], 'l' .. ARGV[6] .. '|' .. until_at)
return { 'taken', now, until_at, '' }
