-- What a watchdog needs to know of the service as a whole, appended to an answer: the fleet's raised alarms or '', then each with its
-- count before it: presences of replicas, presences of workers, watchers: who, when;  places: job, JSON
local function add_fleet(key, answer, with_places)
  local function all(list, size)
    answer[#answer + 1] = #list / size
    for _, value in ipairs(list) do answer[#answer + 1] = value end
  end
  answer[#answer + 1] = redis.call('HGET', key .. ':alarm:raised', '') or ''
  all(redis.call('HVALS', key .. ':replicas'), 1)
  all(redis.call('HVALS', key .. ':workers'), 1)
  all(redis.call('ZRANGE', key .. ':alarm:watchers', 0, -1, 'WITHSCORES'), 2)
  all(with_places and redis.call('HGETALL', key .. ':alarm:places') or {}, 2)
end
