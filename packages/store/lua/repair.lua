-- W3/W8 What should be on the queue of this job and has been quiet for a while. Whoever asks adds it again under the same id,
-- which does nothing where it is still there. What is listed is touched, so that it is listed once per quiet time.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 quiet ms  3 most rows
-- Answer: { now, open work (0: the job may leave the service's set of open jobs), of it not recorded yet, then kind, slot id,
--   number, queue, payload version of each row; the last two are '' where the slot's record has none
--   kind  slot | plan (number: step) | chunk (number) | done (number: outcome version) | view (slot id: the dead letter's id)
-- include: time, transition
local base = KEYS[1]
local now = read_time(ARGV[1])
local before, most = now - tonumber(ARGV[2]), tonumber(ARGV[3])
local answer = { now, 0, redis.call('ZCARD', base .. ':open') }
local rows = 0
-- A run stays on the queue that it began on, whatever the definition says by now: another queue would not know its ids.
local function row(kind, id, number)
  rows = rows + 1
  local place = kind == 'view' and {} or redis.call('HMGET', base .. ':slot:' .. id, 'queue', 'payload')
  for _, value in ipairs({ kind, id, number, place[1] or '', place[2] or '' }) do answer[#answer + 1] = value end
end

-- More runs than one look takes, or than its rows, are looked at in turn: the next look goes on where this one stopped.
local LOOKED_AT = 100
local place = base .. ':looked'
local from = tonumber(redis.call('GET', place) or 0)
if from >= redis.call('ZCARD', base .. ':active') then from = 0 end
local looked = from
for _, id in ipairs(redis.call('ZRANGE', base .. ':active', from, from + LOOKED_AT - 1)) do
  if rows >= most then break end
  looked = looked + 1
  local slot, plan = base .. ':slot:' .. id, base .. ':plan:' .. id
  local fields = redis.call('HMGET', slot, 'state', 'enqueuedAt', 'readdedAt', 'useBy')
  if fields[1] == 'enqueued' then
    if fields[4] and tonumber(fields[4]) < now then
      drop(base, id, 'skipped', now, 'expired: not started by its use-by')
    elseif math.max(tonumber(fields[2] or 0), tonumber(fields[3] or 0)) <= before then
      redis.call('HSET', slot, 'readdedAt', now)
      row('slot', id, 0)
    end
  else
    local standing = redis.call('HMGET', plan, 'complete', 'paused', 'touchedAt', 'step')
    if standing[1] ~= '1' and standing[2] ~= '1' and tonumber(standing[3] or 0) <= before then
      redis.call('HSET', plan, 'touchedAt', now)
      row('plan', id, tonumber(standing[4] or 0))
    end
    for _, number in ipairs(redis.call('ZRANGEBYSCORE', base .. ':chunks:' .. id, '-inf', before, 'LIMIT', 0, most)) do
      if rows >= most then break end
      redis.call('ZADD', base .. ':chunks:' .. id, now, number)
      row('chunk', id, tonumber(number))
    end
    -- A pause whose waker died before it added the step, or whose chunks were all lost, would last for ever.
    if standing[2] == '1' and standing[1] ~= '1' and redis.call('ZCARD', base .. ':chunks:' .. id) == 0 then
      redis.call('HSET', plan, 'paused', 0, 'touchedAt', now)
      row('plan', id, redis.call('HINCRBY', plan, 'step', 1))
    end
  end
end
if looked >= redis.call('ZCARD', base .. ':active') then looked = 0 end
if looked ~= from then redis.call('SET', place, looked, 'PX', 3600 * 1000) end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', base .. ':done', '-inf', before, 'LIMIT', 0, most)) do
  redis.call('ZADD', base .. ':done', now, id)
  row('done', id, tonumber(redis.call('HGET', base .. ':slot:' .. id, 'version')))
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', base .. ':views', '-inf', before, 'LIMIT', 0, most)) do
  redis.call('ZADD', base .. ':views', now, id)
  row('view', id, 0)
end
for _, set in ipairs({ 'open', 'active', 'done', 'views' }) do answer[2] = answer[2] + redis.call('ZCARD', base .. ':' .. set) end
return answer
