-- T6 Registration: set-if-absent, dated by Redis. The newest date wins; an image known already is no new date, so one that
-- restarts in the middle of a rollout changes nothing.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 image (hash of the settings)  3 settings JSON  4 schedule fingerprint  5 replica
-- Answer: { status, now, watermark, generation, since, image in force, settings in force }
--   status  registered (new job) | same | changed (newer settings, same schedule) | edit (another schedule: close, T7)
-- include: time
local base = KEYS[1]
local now = read_time(ARGV[1])
local image, settings, fingerprint = ARGV[2], ARGV[3], ARGV[4]
if redis.call('ZADD', base .. ':images', 'NX', now, image) == 1 then
  redis.call('HSET', base .. ':image:' .. image, 'settings', settings, 'fingerprint', fingerprint, 'by', ARGV[5])
end

local function answer(status)
  local job = redis.call('HMGET', base .. ':job', 'watermark', 'generation', 'since', 'image', 'settings')
  return { status, now, tonumber(job[1]), tonumber(job[2]), tonumber(job[3]), job[4], job[5] }
end

if redis.call('EXISTS', base .. ':job') == 0 then
  redis.call('HSET', base .. ':job', 'generation', 1, 'since', now, 'watermark', now, 'image', image,
    'fingerprint', fingerprint, 'settings', settings, 'registeredAt', now)
  redis.call('ZADD', base .. ':generations', now, cjson.encode({ generation = 1, since = now, image = image, by = ARGV[5] }))
  return answer('registered')
end
local newest = redis.call('ZREVRANGE', base .. ':images', 0, 0)[1]
if redis.call('HGET', base .. ':job', 'image') == newest then return answer('same') end
local stored = redis.call('HMGET', base .. ':image:' .. newest, 'settings', 'fingerprint')
if redis.call('HGET', base .. ':job', 'fingerprint') ~= stored[2] then return answer('edit') end
redis.call('HSET', base .. ':job', 'image', newest, 'settings', stored[1])
return answer('changed')
