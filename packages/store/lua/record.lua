-- T3 Record: the slots are on the queue. Never moves a state back: a worker may have started already.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 replica  3 marker ms  4 for a foreign worker (0, 1)  5 queue  6 payload version  7 how many slots
--      then id and trace id (or '') of each, then id, instant pairs of the caller's list
-- Answer: { now, watermark }
-- include: time, transition, watermark
local base = KEYS[1]
local now = read_time(ARGV[1])
local count = tonumber(ARGV[7])
for index = 1, count do
  local id, trace = ARGV[6 + 2 * index], ARGV[7 + 2 * index]
  -- T12: what history has taken meanwhile is over; nothing of it is written anew.
  if state_of(base, id) then
    redis.call('HSETNX', base .. ':slot:' .. id, 'queue', ARGV[5])
    redis.call('HSETNX', base .. ':slot:' .. id, 'payload', ARGV[6])
    if trace ~= '' then redis.call('HSET', base .. ':slot:' .. id, 'trace', trace) end
  end
  if transition(base, id, 'enqueued', now, { by = ARGV[2] }, { 'enqueuedAt', now }) then
    -- A plain BullMQ worker tells us nothing: for us, such a run ends here.
    if ARGV[4] == '1' then
      redis.call('ZREM', base .. ':active', id)
      redis.call('ZREM', base .. ':live', id)
    end
  end
  redis.call('PEXPIRE', base .. ':claim:' .. id, ARGV[3])
end
local list = {}
for index = 8 + 2 * count, #ARGV, 2 do
  list[#list + 1] = { id = ARGV[index], at = tonumber(ARGV[index + 1]) }
end
return { now, advance(base, list) }
