-- What a watchdog needs to know of the service as a whole.
--
-- KEYS[1] service key
-- ARGV 1 now or ''
-- Answer: { now, then what include/fleet.lua adds, without the places }
-- include: time, fleet
local answer = { read_time(ARGV[1]) }
add_fleet(KEYS[1], answer, false)
return answer
