-- What became of letters: gone from the outbox, tried again later, or given up; what was given up stays in the journal.
--
-- KEYS[1] service key
-- ARGV 1 now or ''  2 how many letters, then of each: id, when to try again ('' never), tries as JSON
--      then journal entries as JSON
-- Answer: { now }
-- include: time
local key = KEYS[1] .. ':alarm:'
local now = read_time(ARGV[1])
local index = 3
for _ = 1, tonumber(ARGV[2]) do
  local id, again = ARGV[index], ARGV[index + 1]
  if again == '' then
    redis.call('ZREM', key .. 'outbox', id)
    redis.call('HDEL', key .. 'letters', id)
    redis.call('HDEL', key .. 'tries', id)
  elseif redis.call('ZSCORE', key .. 'outbox', id) then
    redis.call('ZADD', key .. 'outbox', again, id)
    redis.call('HSET', key .. 'tries', id, ARGV[index + 2])
  end
  index = index + 3
end
for entry = index, #ARGV do
  local id = now .. '-' .. redis.call('HINCRBY', key .. 'meta', 'sequence', 1)
  redis.call('RPUSH', key .. 'journal', '{"id":"' .. id .. '",' .. string.sub(ARGV[entry], 2))
end
redis.call('LTRIM', key .. 'journal', -1000, -1)
return { now }
