-- T9: a worker that was told to stop has let go of a cancelled chunk; the run that waits for it may start.
--
-- KEYS[1] job key
-- ARGV 1 now or '' (unused)  2 slot id  3 chunk number
-- Answer: 1 where it was waited for
return redis.call('ZREM', KEYS[1] .. ':letting', ARGV[2] .. ':' .. ARGV[3])
