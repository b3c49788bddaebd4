-- A1: what time it is.
--
-- KEYS[1] service key (unused)
-- ARGV 1 now or ''
-- Answer: { now }
-- include: time
return { read_time(ARGV[1]) }
