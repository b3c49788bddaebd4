-- T8 Removal: nobody carries the job any more while others of its service live. It is dated as gone; nothing fires after that.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 by  3 image that was looked for  4 what (gone, renamed, removed, pin)  5 image to be in force, for pin; new
--      name, for renamed; note, for removed  and for removed, at once and by a person: 6 the instant before its first slot that
--      nobody has taken, 7 the watermark and 8 how many records after it the caller reckoned with
-- Answer: { status, now, waiting slots that are left to be dropped, of a removal: ask again }
--   status  gone | pinned | stale (another image is in force, or more is recorded by now) | unknown
-- include: time, transition
local base = KEYS[1]
local now = read_time(ARGV[1])
local job = redis.call('HMGET', base .. ':job', 'image', 'goneAt', 'watermark')
if not job[1] then return { 'unknown', now, 0 } end
if job[1] ~= ARGV[3] then return { 'stale', now, 0 } end

-- Nobody takes what waits of a job that is gone.
local function drop_waiting()
  local open = base .. ':open'
  for _, id in ipairs(redis.call('ZRANGE', open, 0, 99)) do
    if state_of(base, id) == 'due' then drop(base, id, 'skipped', now, 'the job was removed by ' .. ARGV[2]) end
  end
  local first = redis.call('ZRANGE', open, 0, 0)[1]
  return first and state_of(base, first) == 'due' and redis.call('ZCARD', open) or 0
end

if ARGV[4] == 'removed' then
  if job[2] then return { 'gone', now, drop_waiting() } end
  local known = redis.call('ZCOUNT', base .. ':slots', '(' .. ARGV[7], '+inf')
  if job[3] ~= ARGV[7] or known ~= tonumber(ARGV[8]) then return { 'stale', now, 0 } end
end
local image = redis.call('HMGET', base .. ':image:' .. ARGV[5], 'settings', 'fingerprint', 'zone')
if ARGV[4] == 'pin' and not image[1] then return { 'unknown', now, 0 } end
redis.call('RPUSH', base .. ':journal', cjson.encode({ at = now, event = ARGV[4], by = ARGV[2], note = ARGV[5] }))
redis.call('LTRIM', base .. ':journal', -1000, -1)
if ARGV[4] == 'pin' then
  redis.call('HSET', base .. ':job', 'target', ARGV[5])
  -- T7: only a change of the schedule is an edit, which has to be closed first.
  if image[2] == redis.call('HGET', base .. ':job', 'fingerprint') then
    redis.call('HSET', base .. ':job', 'image', ARGV[5], 'settings', image[1], 'zone', image[3])
  end
  return { 'pinned', now, 0 }
end
if ARGV[4] == 'renamed' then redis.call('HSET', base .. ':job', 'renamedTo', ARGV[5]) end
if ARGV[4] == 'removed' then
  redis.call('HSET', base .. ':job', 'goneAt', math.min(now, tonumber(ARGV[6])), 'removed', 1)
  return { 'gone', now, drop_waiting() }
end
redis.call('HSETNX', base .. ':job', 'goneAt', now)
return { 'gone', now, 0 }
