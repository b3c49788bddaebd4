-- A5: the jobs that may have something overdue: whose slots are to be looked at by then, those with runs under way, and those that no
-- trigger has put in the set of what is to be looked at yet.
--
-- KEYS[1] service key
-- ARGV 1 now or ''  2 how far ahead a sweep may have put a job off, ms
-- Answer: their names
-- include: time
local key = KEYS[1]
local now = read_time(ARGV[1])
local names, seen = {}, { [''] = true }
local function add(list)
  for _, name in ipairs(list) do
    if not seen[name] then
      seen[name] = true
      names[#names + 1] = name
    end
  end
end
add(redis.call('ZRANGEBYSCORE', key .. ':watch', '-inf', now + tonumber(ARGV[2])))
add(redis.call('ZRANGE', key .. ':open', 0, -1))
for _, name in ipairs(redis.call('ZRANGE', key .. ':jobs', 0, -1)) do
  if not redis.call('ZSCORE', key .. ':watch', name) then add({ name }) end
end
return names
