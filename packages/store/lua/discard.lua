-- W8: an operator gives a dead letter up, with a reason. The run's sum keeps it as dead.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 by  3 reason  4 last death at this instant or before, '' for any  then the ids of the dead letters
-- Answer: how many were discarded
-- include: time, dead-letter
local base = KEYS[1]
local now = read_time(ARGV[1])
local discarded = 0
local until_at = tonumber(ARGV[4]) or math.huge
for index = 5, #ARGV do
  local dead = base .. ':dead:' .. ARGV[index]
  local fields = redis.call('HMGET', dead, 'state', 'at')
  if fields[1] == 'open' and (tonumber(fields[2]) or 0) <= until_at then
    close_letter(base, ARGV[index], now)
    redis.call('HSET', dead, 'state', 'discarded', 'discardedAt', now, 'discardedBy', ARGV[2], 'discardReason', ARGV[3])
    discarded = discarded + 1
  end
end
return discarded
