-- T8 Removal: nobody carries the job any more while others of its service live. It is dated as gone; nothing fires after that.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 by  3 image that was looked for  4 what (gone, renamed, pin)  5 image to be in force, for
--      pin; new name, for renamed
-- Answer: { status, now }   status  gone | pinned | stale (another image is in force by now) | unknown
-- include: time
local base = KEYS[1]
local now = read_time(ARGV[1])
local job = redis.call('HMGET', base .. ':job', 'image', 'goneAt')
if not job[1] then return { 'unknown', now } end
if job[1] ~= ARGV[3] then return { 'stale', now } end
redis.call('RPUSH', base .. ':journal', cjson.encode({ at = now, event = ARGV[4], by = ARGV[2], note = ARGV[5] }))
redis.call('LTRIM', base .. ':journal', -1000, -1)
if ARGV[4] == 'pin' then
  local image = redis.call('HMGET', base .. ':image:' .. ARGV[5], 'settings', 'fingerprint', 'zone')
  if not image[1] then return { 'unknown', now } end
  redis.call('HSET', base .. ':job', 'target', ARGV[5])
  -- T7: only a change of the schedule is an edit, which has to be closed first.
  if image[2] == redis.call('HGET', base .. ':job', 'fingerprint') then
    redis.call('HSET', base .. ':job', 'image', ARGV[5], 'settings', image[1], 'zone', image[3])
  end
  return { 'pinned', now }
end
if ARGV[4] == 'renamed' then redis.call('HSET', base .. ':job', 'renamedTo', ARGV[5]) end
redis.call('HSETNX', base .. ':job', 'goneAt', now)
return { 'gone', now }
