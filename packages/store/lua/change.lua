-- A2: a job is listed, at the number of its last change, so that others hear of it by asking for what is newer than what they know.
-- Numbers, not instants: no two changes share one, so a page of them loses none.
--
-- KEYS[1] service key
-- ARGV 1 now or '' (unused)  2 job  3 only where it is not listed (0, 1)
-- Answer: the number
local jobs = KEYS[1] .. ':jobs'
if ARGV[3] == '1' and redis.call('ZSCORE', jobs, ARGV[2]) then return 0 end
local number = redis.call('INCR', KEYS[1] .. ':changes')
redis.call('ZADD', jobs, number, ARGV[2])
return number
