-- S2 The store lost writes that it had acknowledged: it is another (a new epoch), or behind what a replica remembers. Memories
-- are merged: earliest dates, and by maximum what was recorded. For one sweep nothing is claimed, so that others can tell theirs.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 watermark remembered  3 generation start remembered  4 registration remembered  5 wait ms  6 by
-- Answer: { status, now }   status  restoring | unknown (register first)
-- include: time
local base = KEYS[1]
local now = read_time(ARGV[1])
local key = base .. ':job'
local job = redis.call('HMGET', key, 'watermark', 'since', 'registeredAt', 'memory')
if not job[1] then return { 'unknown', now } end
if redis.call('HSETNX', key, 'restoringUntil', now + tonumber(ARGV[5])) == 1 then
  redis.call('HSET', key, 'restoredAt', now)
  redis.call('RPUSH', base .. ':journal', cjson.encode({ at = now, event = 'store lost', by = ARGV[6], note = '' }))
end
-- A registration newer than a memory was made by somebody who knew no better.
if tonumber(job[2]) > tonumber(ARGV[3]) then
  redis.call('HSET', key, 'since', ARGV[3])
  if tonumber(job[3]) > tonumber(ARGV[4]) then
    redis.call('HSET', key, 'registeredAt', ARGV[4], 'watermark', ARGV[3])
  end
end
if tonumber(job[4] or -1) < tonumber(ARGV[2]) then redis.call('HSET', key, 'memory', ARGV[2]) end
return { 'restoring', now }
