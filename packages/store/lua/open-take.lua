-- A5: the jobs with open work whose time to be looked at has come; each is put off, so that a fleet looks at it once.
--
-- KEYS[1] service key
-- ARGV 1 now or ''  2 put off by ms  3 most
-- Answer: { now, then job, score it now has }
-- include: time
local key = KEYS[1] .. ':open'
local now = read_time(ARGV[1])
local answer = { now }
for _, job in ipairs(redis.call('ZRANGEBYSCORE', key, '-inf', now, 'LIMIT', 0, ARGV[3])) do
  redis.call('ZADD', key, now + tonumber(ARGV[2]), job)
  answer[#answer + 1] = job
  answer[#answer + 1] = now + tonumber(ARGV[2])
end
return answer
