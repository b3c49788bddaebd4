-- A5: the jobs of one of the service's sets whose time to be looked at has come; each is put off, so that a fleet looks at it once.
--
-- KEYS[1] service key
-- ARGV 1 now or ''  2 set (watch, open)  3 put off by ms  4 most
-- Answer: { now, then job, score it now has }
-- include: time
local key = KEYS[1] .. ':' .. ARGV[2]
local now = read_time(ARGV[1])
local answer = { now }
for _, job in ipairs(redis.call('ZRANGEBYSCORE', key, '-inf', now, 'LIMIT', 0, ARGV[4])) do
  redis.call('ZADD', key, now + tonumber(ARGV[3]), job)
  answer[#answer + 1] = job
  answer[#answer + 1] = now + tonumber(ARGV[3])
end
return answer
