-- A5: everything a sweep asks the service, in one script: the epoch, what changed, and whose slots are to be looked at. Each job
-- that is taken is put off, so that a fleet looks at it once.
--
-- KEYS[1] service key
-- ARGV 1 now or ''  2 put off by ms  3 most jobs  4 number of the newest change known
-- Answer: { now, epoch or '', number of the newest change, how many changed, their names..., then job, score it now has }
-- include: time
local base = KEYS[1]
local now = read_time(ARGV[1])
local answer = { now, redis.call('GET', base .. ':epoch') or '', tonumber(ARGV[4]), 0 }
local changed = redis.call('ZRANGEBYSCORE', base .. ':jobs', '(' .. ARGV[4], '+inf', 'WITHSCORES', 'LIMIT', 0, 1000)
for index = 1, #changed, 2 do
  answer[#answer + 1] = changed[index]
  answer[3] = tonumber(changed[index + 1])
  answer[4] = answer[4] + 1
end
for _, job in ipairs(redis.call('ZRANGEBYSCORE', base .. ':watch', '-inf', now, 'LIMIT', 0, ARGV[3])) do
  redis.call('ZADD', base .. ':watch', now + tonumber(ARGV[2]), job)
  answer[#answer + 1] = job
  answer[#answer + 1] = now + tonumber(ARGV[2])
end
return answer
