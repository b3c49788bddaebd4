-- W8: an operator gives a dead letter up, with a reason. The run's sum keeps it as dead.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 by  3 reason  then the ids of the dead letters
-- Answer: how many were discarded
-- include: time, dead-letter
local base = KEYS[1]
local now = read_time(ARGV[1])
local discarded = 0
for index = 4, #ARGV do
  local dead = base .. ':dead:' .. ARGV[index]
  if redis.call('HGET', dead, 'state') == 'open' then
    close_letter(base, ARGV[index], now)
    redis.call('HSET', dead, 'state', 'discarded', 'discardedAt', now, 'discardedBy', ARGV[2], 'discardReason', ARGV[3])
    discarded = discarded + 1
  end
end
return discarded
