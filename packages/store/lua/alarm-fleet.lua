-- What a watchdog needs to know of the service as a whole.
--
-- KEYS[1] service key
-- ARGV 1 now or ''  2 with the places of all jobs (0, 1)
-- Answer: { now, raised alarms of the fleet or '', then each with its count before it: presences of replicas, presences of workers,
--   watchers: who, when;  places: job, JSON }
-- include: time
local key = KEYS[1]
local answer = { read_time(ARGV[1]), redis.call('HGET', key .. ':alarm:raised', '') or '' }
local function all(list, size)
  answer[#answer + 1] = #list / size
  for _, value in ipairs(list) do answer[#answer + 1] = value end
end
all(redis.call('HVALS', key .. ':replicas'), 1)
all(redis.call('HVALS', key .. ':workers'), 1)
all(redis.call('ZRANGE', key .. ':alarm:watchers', 0, -1, 'WITHSCORES'), 2)
all(ARGV[2] == '1' and redis.call('HGETALL', key .. ':alarm:places') or {}, 2)
return answer
