-- Alarms to be delivered now; each is put off, so that one process of the fleet delivers it, and another where that one dies.
--
-- KEYS[1] service key
-- ARGV 1 now or ''  2 put off by ms  3 most
-- Answer: { now, then id, entry as JSON, tries as JSON or '' }
-- include: time
local key = KEYS[1] .. ':alarm:'
local now = read_time(ARGV[1])
local answer = { now }
for _, id in ipairs(redis.call('ZRANGEBYSCORE', key .. 'outbox', '-inf', now, 'LIMIT', 0, ARGV[3])) do
  redis.call('ZADD', key .. 'outbox', now + tonumber(ARGV[2]), id)
  answer[#answer + 1] = id
  answer[#answer + 1] = redis.call('HGET', key .. 'letters', id) or ''
  answer[#answer + 1] = redis.call('HGET', key .. 'tries', id) or ''
end
return answer
