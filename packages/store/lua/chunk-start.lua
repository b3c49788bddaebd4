-- W1/W6 Start of a chunk: gives a fence. A holder that never handed back has crashed: counted for the chunk, and for the entity
-- that ran alone, if one did. The same token is the same holder: its start was sent twice, or it let go because of an outage.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 slot id  3 chunk number  4 worker  5 token
-- Answer: { status, now, fence, crashed (0, 1), effective, cause, started, then the chunk's fields and values }
--   status  run | closed (settled before) | ended | refused
-- include: time, transition, fence
local base, id, number = KEYS[1], ARGV[2], ARGV[3]
local now = read_time(ARGV[1])
local state = state_of(base, id)
if not state then return { 'refused', now } end
if state ~= 'running' then return { 'ended', now } end
local chunk = chunk_key(base, id, number)
if redis.call('EXISTS', chunk) == 0 then return { 'closed', now } end
local slot = base .. ':slot:' .. id
local before = redis.call('HMGET', chunk, 'holder', 'alone', 'token')
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
redis.call('ZADD', base .. ':chunks:' .. id, now, number)
local facts = redis.call('HMGET', slot, 'effective', 'cause', 'startedAt')
local answer = { 'run', now, fence, crashed, tonumber(facts[1]), facts[2], tonumber(facts[3] or now) }
for _, value in ipairs(redis.call('HGETALL', chunk)) do answer[#answer + 1] = value end
return answer
