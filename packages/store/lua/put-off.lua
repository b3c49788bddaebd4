-- A5: a sweep has looked at a job. It is looked at again then, or, where the score is '', leaves the set. Does nothing where
-- somebody asked for another look meanwhile.
--
-- KEYS[1] service key
-- ARGV 1 now or '' (unused)  2 set (watch, open)  3 job  4 score the sweep gave it  5 score it is to have or ''
-- Answer: 1 where something changed
local key = KEYS[1] .. ':' .. ARGV[2]
if redis.call('ZSCORE', key, ARGV[3]) ~= ARGV[4] then return 0 end
if ARGV[5] == '' then return redis.call('ZREM', key, ARGV[3]) end
redis.call('ZADD', key, ARGV[5], ARGV[3])
return 1
