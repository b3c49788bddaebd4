-- The watchdogs' agenda: the jobs whose earliest possible alarm has come, each put off, so that a fleet judges it once. Where the
-- judge dies, the next one finds it when that time is over. Jobs that were registered or changed get on the agenda here.
--
-- KEYS[1] service key
-- ARGV 1 now or ''  2 who looks  3 put off by ms  4 most jobs  5 how often the fleet is judged, ms  6 delivers alarms (0, 1)
-- Answer: { now, whether to judge the fleet (0, 1), when to look again or 0, whether letters are due (0, 1), how many
--   jobs, of each: name, score it now has, its raised alarms or '';  then, where there is anything to judge, what
--   include/fleet.lua adds }
-- include: time, fleet
local key = KEYS[1] .. ':alarm:'
local now = read_time(ARGV[1])
local meta = redis.call('HMGET', key .. 'meta', 'fleetAt', 'change')
-- A time far ahead was written before the clock stepped back.
local fleet = not meta[1] or tonumber(meta[1]) <= now or tonumber(meta[1]) > now + tonumber(ARGV[5])
redis.call('ZADD', key .. 'watchers', now, ARGV[2])
if ARGV[6] == '1' then redis.call('HSET', key .. 'meta', 'deliveredAt', now) end
if fleet then
  redis.call('HSET', key .. 'meta', 'fleetAt', now + tonumber(ARGV[5]))
  redis.call('ZREMRANGEBYSCORE', key .. 'watchers', '-inf', now - 3600000)
end

local changed = redis.call('ZRANGEBYSCORE', KEYS[1] .. ':jobs', '(' .. (meta[2] or 0), '+inf', 'WITHSCORES', 'LIMIT', 0, 1000)
for index = 1, #changed, 2 do
  redis.call('ZADD', key .. 'agenda', 'LT', now, changed[index])
  redis.call('HSET', key .. 'meta', 'change', changed[index + 1])
end

local answer = { now, fleet and 1 or 0, 0, 0, 0 }
for _, job in ipairs(redis.call('ZRANGEBYSCORE', key .. 'agenda', '-inf', now, 'LIMIT', 0, ARGV[4])) do
  local score = now + tonumber(ARGV[3])
  redis.call('ZADD', key .. 'agenda', score, job)
  answer[5] = answer[5] + 1
  answer[#answer + 1] = job
  answer[#answer + 1] = score
  answer[#answer + 1] = redis.call('HGET', key .. 'raised', job) or ''
end
local next_at = redis.call('ZRANGE', key .. 'agenda', 0, 0, 'WITHSCORES')[2]
local letter_at = ARGV[6] == '1' and redis.call('ZRANGE', key .. 'outbox', 0, 0, 'WITHSCORES')[2]
if letter_at and (not next_at or tonumber(letter_at) < tonumber(next_at)) then next_at = letter_at end
answer[3] = next_at and tonumber(next_at) or 0
answer[4] = letter_at and tonumber(letter_at) <= now and 1 or 0
if fleet or answer[5] > 0 then add_fleet(KEYS[1], answer, fleet) end
return answer
