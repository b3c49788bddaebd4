-- The journal of what people changed: asked before a change, ended after it, so that no crash leaves a change without a line.
--
-- KEYS[1] service key
-- ARGV 1 now or ''  2 what (ask, end, withdraw)  3 list  4 id, or '' to ask  5 row as JSON, or ''  6 most rows of a list
--      7 how long rows are kept, ms
-- Answer: { id, now }
-- include: time
local base = KEYS[1]
local now = read_time(ARGV[1])
local list = base .. ':actions:' .. ARGV[3]
local rows = base .. ':actions:rows'
local function forget(ids)
  for _, id in ipairs(ids) do
    redis.call('ZREM', list, id)
    redis.call('HDEL', rows, id, id .. ':end')
  end
end
if ARGV[2] == 'ask' then
  -- Of a fixed width: rows of one millisecond are in the order of their ids.
  local id = string.format('%012d', redis.call('INCR', base .. ':actions:count'))
  redis.call('ZADD', list, now, id)
  redis.call('HSET', rows, id, ARGV[5])
  return { id, now }
end
if ARGV[2] == 'withdraw' then
  forget({ ARGV[4] })
  return { ARGV[4], now }
end
if redis.call('HEXISTS', rows, ARGV[4]) == 1 then redis.call('HSET', rows, ARGV[4] .. ':end', ARGV[5]) end
-- At most 100 at once (A5); each change brings one, so that this never falls behind.
forget(redis.call('ZRANGEBYSCORE', list, '-inf', now - ARGV[7], 'LIMIT', 0, 50))
local over = redis.call('ZCARD', list) - ARGV[6]
if over > 0 then forget(redis.call('ZRANGE', list, 0, math.min(over, 50) - 1)) end
return { ARGV[4], now }
