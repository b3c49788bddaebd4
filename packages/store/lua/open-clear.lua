-- A5: a sweep found nothing open. Removes the hint unless somebody renewed it meanwhile.
--
-- KEYS[1] service key
-- ARGV 1 now or '' (unused)  2 job  3 score the sweep gave it
-- Answer: how many were removed
local key = KEYS[1] .. ':open'
if redis.call('ZSCORE', key, ARGV[2]) ~= ARGV[3] then return 0 end
return redis.call('ZREM', key, ARGV[2])
