-- W1/W6 Start of a chunk: gives a fence. A holder that never handed back has crashed: counted for the chunk, and for the entity
-- that ran alone, if one did. The same token is the same holder: its start was sent twice, or it let go because of an outage.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 slot id  3 chunk number  4 worker  5 token  6 calls of the handler it would make at once  7 ms that its places
--      are its own without a word from it
-- Answer: { status, now, fence, crashed (0, 1), effective, cause, started, calls at once or 0 (no limit), rated (0, 1), then the chunk's fields and
--   values }
--   status  run | closed (settled before) | ended | refused | later (the job's limit is reached; then ms until it may not be, or 0)
-- include: time, transition, fence, limit
local base, id, number = KEYS[1], ARGV[2], ARGV[3]
local now = read_time(ARGV[1])
local state = state_of(base, id)
if not state then return { 'refused', now } end
if state ~= 'running' then return { 'ended', now } end
local chunk = chunk_key(base, id, number)
if redis.call('EXISTS', chunk) == 0 then return { 'closed', now } end
local slot = base .. ':slot:' .. id
local before = redis.call('HMGET', chunk, 'holder', 'alone', 'token', 'place', 'left')
local limit, width, place = limit_of(base), 0, nil
-- Nothing is held yet, and nothing counted: whoever comes later finds the chunk as it is.
if limit and limit.rate then
  local wait = rate_wait(base, limit.rate, now)
  if wait > LONGEST_WAIT_MS then return { 'later', now, wait } end
end
if limit and limit.concurrency then
  local hold = { chunk = id .. ':' .. number, want = math.min(tonumber(ARGV[6]), tonumber(before[5])), lease = tonumber(ARGV[7]) }
  width = take_places(base, hold, limit.concurrency, now)
  if width == 0 then return { 'later', now, 0 } end
  place = width .. ':' .. hold.lease
end
local crashed = 0
if before[1] and before[1] ~= '' and before[3] ~= ARGV[5] then
  crashed = 1
  redis.call('HINCRBY', chunk, 'crashes', 1)
  redis.call('HINCRBY', slot, 'crashes', 1)
  if before[2] and before[2] ~= '' then redis.call('HINCRBY', chunk, 'c' .. before[2], 1) end
  note(base, id, now, 'crashed', { by = before[1], chunk = tonumber(number), taken = ARGV[4] })
end
local fence = redis.call('HINCRBY', chunk, 'fence', 1)
redis.call('HSET', chunk, 'holder', ARGV[4], 'token', ARGV[5], 'alone', '')
if place then redis.call('HSET', chunk, 'place', place) elseif before[4] then redis.call('HDEL', chunk, 'place') end
redis.call('ZADD', base .. ':chunks:' .. id, now, number)
local facts = redis.call('HMGET', slot, 'effective', 'cause', 'startedAt')
local answer = { 'run', now, fence, crashed, tonumber(facts[1]), facts[2], tonumber(facts[3] or now), width,
  limit and limit.rate and 1 or 0 }
for _, value in ipairs(redis.call('HGETALL', chunk)) do answer[#answer + 1] = value end
return answer
