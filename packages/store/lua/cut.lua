-- T5 The cut, once per outage: what is older than grace and unknown to the ledger becomes gaps, and the admitted slots due.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 generation  3 watermark  4 instant the cut reaches to  5 how many ledger entries
--      and gaps in (watermark, reach]  6 cause of admitted slots  7 by  8 'resume' where it ends a pause, 'restore' where it
--      ends a restoration, 'restore-skip' where a slot may not run twice, else ''
--      9 how many gaps  then from (exclusive), to, count, state, reason of
--      each gap, then id, instant, effective instant of each admitted slot
-- Answer: { ok | stale, now, watermark, generation, entries and gaps known }
-- include: time, transition, watermark
local MOST_DROPPED = 100
local base = KEYS[1]
local now = read_time(ARGV[1])
local job = redis.call('HMGET', base .. ':job', 'generation', 'watermark')
local known = redis.call('ZCOUNT', base .. ':slots', '(' .. ARGV[3], ARGV[4])
  + redis.call('ZCOUNT', base .. ':gaps', '(' .. ARGV[3], '+inf')
if job[1] ~= ARGV[2] or job[2] ~= ARGV[3] or known ~= tonumber(ARGV[5]) then
  return { 'stale', now, tonumber(job[2]), tonumber(job[1]), known }
end
-- S3: what the older store calls due or claimed may have run before the writes about it were lost. What one script does not
-- take is left to the next: the restoration does not end before.
if ARGV[8] == 'restore-skip' then
  local dropped = 0
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', base .. ':open', '-inf', ARGV[4])) do
    if not is_manual(id) then
      if dropped == MOST_DROPPED then return { 'stale', now, tonumber(job[2]), tonumber(job[1]), known } end
      drop(base, id, 'skipped', now, 'store lost: it may have run')
      dropped = dropped + 1
    end
  end
end
-- T10: a pause ends with its cut; whoever was second finds it ended.
if ARGV[8] == 'resume' then
  redis.call('HDEL', base .. ':job', 'paused', 'pausedAt', 'pausedBy', 'pauseNote', 'pausedUntil', 'pauseMissed')
end
if ARGV[8] == 'restore' or ARGV[8] == 'restore-skip' then redis.call('HDEL', base .. ':job', 'restoringUntil', 'restoredAt', 'memory') end
local index = 10
for _ = 1, tonumber(ARGV[9]) do
  local gap = { from = tonumber(ARGV[index]), to = tonumber(ARGV[index + 1]), count = tonumber(ARGV[index + 2]),
    state = ARGV[index + 3], reason = ARGV[index + 4], at = now, by = ARGV[7] }
  redis.call('ZADD', base .. ':gaps', gap.to, cjson.encode(gap))
  index = index + 5
end
while index <= #ARGV do
  local id = ARGV[index]
  redis.call('HSET', base .. ':slot:' .. id, 'at', ARGV[index + 1], 'effective', ARGV[index + 2], 'cause', ARGV[6])
  transition(base, id, 'due', now, { reason = 'admitted by catch-up' })
  index = index + 3
end
return { 'ok', now, set_watermark(base, tonumber(ARGV[4])), tonumber(ARGV[2]), known }
