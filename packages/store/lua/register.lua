-- T6 Registration: set-if-absent, dated by Redis. The newest date wins; an image known already is no new date, so one that
-- restarts in the middle of a rollout changes nothing. `target` is the image that is to be in force; whoever finds it is not,
-- closes (T7).
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 image (hash of the settings)  3 settings JSON  4 schedule fingerprint  5 by  6 catch-up window ms
--      7 at run time (0, 1): then it is dated now whenever it changes something  8 hash of the zone's transitions
-- Answer: { status, now, watermark, generation, since, image in force, settings in force }
--   status  registered (new job) | same | changed (newer settings, same schedule) | edit (another schedule: close, T7)
-- include: time
local base = KEYS[1]
local now = read_time(ARGV[1])
local image, settings, fingerprint, window = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[6])
local dynamic = ARGV[7] == '1'
local known = redis.call('ZSCORE', base .. ':images', image)
if not known or (dynamic and redis.call('HGET', base .. ':job', 'target') ~= image) then
  redis.call('ZADD', base .. ':images', now, image)
  redis.call('HSET', base .. ':image:' .. image, 'settings', settings, 'fingerprint', fingerprint, 'by', ARGV[5], 'zone', ARGV[8])
  known = nil
end

local function answer(status)
  local job = redis.call('HMGET', base .. ':job', 'watermark', 'generation', 'since', 'image', 'settings')
  return { status, now, tonumber(job[1]), tonumber(job[2]), tonumber(job[3]), job[4], job[5] }
end
local function open_generation(generation, gone)
  redis.call('HSET', base .. ':job', 'generation', generation, 'since', now, 'watermark', now, 'image', image, 'target', image,
    'fingerprint', fingerprint, 'settings', settings, 'dynamic', ARGV[7], 'zone', ARGV[8])
  redis.call('HSETNX', base .. ':job', 'registeredAt', now)
  redis.call('ZADD', base .. ':generations', now, cjson.encode({ generation = generation, since = now, image = image, by = ARGV[5], gone = gone }))
end

if redis.call('EXISTS', base .. ':job') == 0 then
  open_generation(1)
  return answer('registered')
end
-- T8: a return within the catch-up window was an outage, after it, or after a removal by a person, a new registration.
local gone = redis.call('HMGET', base .. ':job', 'goneAt', 'removed')
if gone[1] then
  redis.call('HDEL', base .. ':job', 'goneAt', 'renamedTo', 'removed')
  if gone[2] or now - tonumber(gone[1]) > window then
    open_generation(tonumber(redis.call('HGET', base .. ':job', 'generation')) + 1, tonumber(gone[1]))
    return answer('registered')
  end
end
if not known then redis.call('HSET', base .. ':job', 'target', image) end
local job = redis.call('HMGET', base .. ':job', 'image', 'target', 'fingerprint')
if job[1] == job[2] then
  -- A row that was spoilt is mended by whoever registers it.
  if job[1] == image then redis.call('HSET', base .. ':job', 'settings', settings, 'fingerprint', fingerprint, 'zone', ARGV[8]) end
  return answer('same')
end
local stored = redis.call('HMGET', base .. ':image:' .. job[2], 'settings', 'fingerprint', 'zone')
if job[3] ~= stored[2] then return answer('edit') end
redis.call('HSET', base .. ':job', 'image', job[2], 'settings', stored[1], 'zone', stored[3])
return answer('changed')
