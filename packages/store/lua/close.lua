-- T7 Edit: closes the generation in force and opens the one of the target image. The edit is this script's own time: what the
-- old schedule owed up to it stays due, nothing of the new one is owed before it.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 generation to close  3 instant the list reaches to  4 grace ms  5 by  then id, instant, effective instant
--      of each slot of the old schedule after max(watermark, its start)
-- Answer: { status, now, watermark, generation }
--   status  closed | stale (another closed it) | short (time has passed the list's end) | old (something is the cut's, T5)
-- include: time, transition, watermark
local base = KEYS[1]
local now = read_time(ARGV[1])
local job = redis.call('HMGET', base .. ':job', 'generation', 'watermark', 'image', 'target')
local watermark = tonumber(job[2])
local function answer(status)
  return { status, now, watermark, tonumber(redis.call('HGET', base .. ':job', 'generation')) }
end
if job[1] ~= ARGV[2] or job[3] == job[4] then return answer('stale') end
if now > tonumber(ARGV[3]) then return answer('short') end

local owed = {}
for index = 6, #ARGV, 3 do
  local id, at, effective = ARGV[index], tonumber(ARGV[index + 1]), tonumber(ARGV[index + 2])
  if at <= now and at > watermark and not state_of(base, id) and not in_gap(base, at) then
    if effective < now - tonumber(ARGV[4]) then return answer('old') end
    owed[#owed + 1] = { id = id, at = at, effective = effective }
  end
end
for _, slot in ipairs(owed) do
  redis.call('HSET', base .. ':slot:' .. slot.id, 'at', slot.at, 'effective', slot.effective, 'cause', 'on-time', 'generation', job[1])
  transition(base, slot.id, 'due', now, { reason = 'schedule edited' })
end
local newest = redis.call('HGET', base .. ':job', 'target')
local image = redis.call('HMGET', base .. ':image:' .. newest, 'settings', 'fingerprint', 'zone')
local generation = tonumber(job[1]) + 1
redis.call('HSET', base .. ':job', 'generation', generation, 'since', now, 'image', newest, 'settings', image[1],
  'fingerprint', image[2], 'zone', image[3])
redis.call('ZADD', base .. ':generations', now, cjson.encode({ generation = generation, since = now, image = newest, by = ARGV[5] }))
watermark = set_watermark(base, now)
return answer('closed')
