-- W4: how many entities of a chunk may start under the job's rate. What is given out is used up, whether or not it is used.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 how many  3 all or none (0, 1): a call with many of them at once, which is paid for afterwards
-- Answer: { how many may start, after how many ms }; 0: none, ask again then
-- include: time, limit
local base = KEYS[1]
local now = read_time(ARGV[1])
local wanted = tonumber(ARGV[2])
local limit = limit_of(base)
if not limit or not limit.rate then return { wanted, 0 } end
local wait = rate_wait(base, limit.rate, now)
if wait > LONGEST_WAIT_MS then return { 0, wait } end
local due, every, slack = rate_standing(base, limit.rate, now)
local granted = wanted
if ARGV[3] ~= '1' then granted = math.min(wanted, math.max(1, math.floor((now + slack - due) / every + 0.000001))) end
redis.call('HSET', base .. ':job', 'startsAt', string.format('%.3f', due + granted * every))
return { granted, wait }
