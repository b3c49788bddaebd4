-- What watchdogs found: raises and clears alarms, once per fleet, writes the journal, and says when each job is looked at again.
-- Compare-and-set on the raised alarms: a judge that was slow changes nothing.
--
-- KEYS[1] service key
-- ARGV 1 now or ''  2 how many jobs, then of each: job ('' the fleet), score the take gave it, when to look again ('' leave it, gone),
--      raised as the judge knew it or '', raised now or '', its place as JSON or '', how many entries, then the entries as JSON
-- Answer: { now, then of each job in the same order: settled | stale, how many entries, their ids }
-- include: time
local key = KEYS[1] .. ':alarm:'
local now = read_time(ARGV[1])
local LETTERS_KEPT, JOURNAL_KEPT = 1000, 1000
local delivered_at = tonumber(redis.call('HGET', key .. 'meta', 'deliveredAt') or 0)
-- Letters wait for whoever delivers; where nobody has for a while, nobody will, and old ones would be news to the first who does.
local delivers = delivered_at > now - 600000
local answer, index = { now }, 3

local function write(entry)
  local id = now .. '-' .. redis.call('HINCRBY', key .. 'meta', 'sequence', 1)
  local line = '{"id":"' .. id .. '",' .. string.sub(entry, 2)
  redis.call('RPUSH', key .. 'journal', line)
  if delivers then
    redis.call('HSET', key .. 'letters', id, line)
    redis.call('ZADD', key .. 'outbox', now, id)
  end
  return id
end

for _ = 1, tonumber(ARGV[2]) do
  local job, score, look_at, known, raised, place = ARGV[index], ARGV[index + 1], ARGV[index + 2], ARGV[index + 3], ARGV[index + 4], ARGV[index + 5]
  local entries = tonumber(ARGV[index + 6])
  if (redis.call('HGET', key .. 'raised', job) or '') ~= known then
    answer[#answer + 1] = 'stale'
    answer[#answer + 1] = 0
  else
    if raised == '' then redis.call('HDEL', key .. 'raised', job) else redis.call('HSET', key .. 'raised', job, raised) end
    answer[#answer + 1] = 'settled'
    answer[#answer + 1] = entries
    for number = 1, entries do answer[#answer + 1] = write(ARGV[index + 6 + number]) end
    if job == '' then
      if look_at ~= '' then redis.call('HSET', key .. 'meta', 'fleetAt', look_at) end
    elseif look_at == 'gone' then
      redis.call('ZREM', key .. 'agenda', job)
      redis.call('HDEL', key .. 'places', job)
    elseif redis.call('ZSCORE', key .. 'agenda', job) == score then
      redis.call('ZADD', key .. 'agenda', look_at, job)
    end
    if place ~= '' and look_at ~= 'gone' then redis.call('HSET', key .. 'places', job, place) end
  end
  index = index + 7 + entries
end
redis.call('LTRIM', key .. 'journal', -JOURNAL_KEPT, -1)
local surplus = redis.call('ZCARD', key .. 'outbox') - LETTERS_KEPT
if surplus > 0 then
  for _, id in ipairs(redis.call('ZRANGE', key .. 'outbox', 0, surplus - 1)) do
    redis.call('ZREM', key .. 'outbox', id)
    redis.call('HDEL', key .. 'letters', id)
    redis.call('HDEL', key .. 'tries', id)
  end
end
return answer
