-- T11 A named slot, by hand or by a backfill: takes `missed` or `skipped` to `claimed`, and splits the gap that held it; no gap
-- covers a slot that ran. What is done is refused.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 slot id  3 instant  4 effective instant  5 cause (manual, backfill)  6 token  7 lease ms  8 by  9 release
--      10 why or ''  11, 12 how many slots of the gap lie before and after it (the caller counted; checked)
--      13 overlap policy, of a backfill  14 what a policy dropped: take | leave
-- Answer: { status, now, state, run that is waited for, reason of what is left alone, or '' }
--   status  claimed | busy (on its way: due, claimed, enqueued, running) | done (ended, or started and cancelled: the state; folded:
--           '') | early (not due yet) | foreign (before the first generation: no slot of this job) | moved (the gap is another:
--           count anew) | later (T9: a backfill waits until no other run of the job is under way) | left (skipped by overlap, expiry or a pause)
-- include: time, transition, watermark, fence, run, overlap
local base, id, at = KEYS[1], ARGV[2], tonumber(ARGV[3])
local now = read_time(ARGV[1])
local state = state_of(base, id)
local slot = base .. ':slot:' .. id

-- T9: backlog and backfill queue one after another, whatever the policy.
local function waits_for()
  if ARGV[5] ~= 'backfill' then return nil end
  if ARGV[13] == 'allow' then return backlog_blocker_of(base, id) end
  return blocker_of(base, id) or (letting_go(base, now) and 'the cancelled run') or nil
end

-- T9, T10: dropped for a reason of its own. A scheduler elsewhere, which knows nothing of it, does not overrule that.
local function is_left(dropped, reason)
  if ARGV[14] ~= 'leave' or dropped ~= 'skipped' then return false end
  for _, why in ipairs({ 'overlap', 'cancelled: ', 'expired', 'paused by ' }) do
    if string.sub(reason or '', 1, #why) == why then return true end
  end
  return false
end

local blocker = waits_for()
if state then
  if PHASES[state] == 'ended' then return { 'done', now, state, '' } end
  if PHASES[state] ~= 'dropped' then return { 'busy', now, state, '' } end
  -- A run that was cancelled after its start may have had effects of which nobody knows.
  if redis.call('HEXISTS', slot, 'startedAt') == 1 then return { 'done', now, state, '' } end
  local reason = redis.call('HGET', slot, 'reason') or ''
  if is_left(state, reason) then return { 'left', now, state, reason } end
  if blocker then return { 'later', now, state, blocker } end
else
  local job = redis.call('HMGET', base .. ':job', 'watermark', 'registeredAt')
  if tonumber(ARGV[4]) > now then return { 'early', now, '', '' } end
  if at <= tonumber(job[2]) and ARGV[5] ~= 'backfill' then return { 'foreign', now, '', '' } end
  -- Older than the job: no watermark says that it ran, once its record is folded.
  if redis.call('ZSCORE', base .. ':before', id) then return { 'done', now, '', '' } end
  local line = redis.call('ZRANGEBYSCORE', base .. ':gaps', at, '+inf', 'LIMIT', 0, 1)[1]
  local gap = line and cjson.decode(line)
  if gap and gap.from < at then
    -- S3: it may have run; only who names it repeats it.
    if gap.state == 'abandoned' and ARGV[5] == 'backfill' then return { 'done', now, gap.state, '' } end
    if is_left(gap.state, gap.reason) then return { 'left', now, gap.state, gap.reason } end
    local before, after = tonumber(ARGV[11]), tonumber(ARGV[12])
    if before + after + 1 ~= gap.count then return { 'moved', now, '', '' } end
    if blocker then return { 'later', now, gap.state, blocker } end
    redis.call('ZREM', base .. ':gaps', line)
    local first, last = cjson.decode(line), cjson.decode(line)
    first.to, first.count = at - 1, before
    last.from, last.count = at, after
    if before > 0 then redis.call('ZADD', base .. ':gaps', first.to, cjson.encode(first)) end
    if after > 0 then redis.call('ZADD', base .. ':gaps', last.to, cjson.encode(last)) end
    redis.call('HSET', slot, 'at', at)
    transition(base, id, gap.state, now, { reason = gap.reason })
  elseif at > tonumber(job[1]) then
    return { 'busy', now, '', '' }
  elseif at > tonumber(job[2]) then
    -- At or below the watermark, not listed, in no gap, after the registration: it is folded.
    return { 'done', now, '', '' }
  elseif blocker then
    return { 'later', now, '', blocker }
  else
    redis.call('ZADD', base .. ':before', at, id)
    redis.call('HSET', slot, 'at', at)
    transition(base, id, 'missed', now, { reason = 'before the job was registered' })
  end
end
redis.call('HSET', slot, 'at', at, 'effective', ARGV[4], 'cause', ARGV[5], 'claimedBy', ARGV[8], 'claimedAt', now, 'release', ARGV[9])
redis.call('HDEL', slot, 'reason', 'useBy')
if ARGV[10] ~= '' then redis.call('HSET', slot, 'why', ARGV[10]) end
transition(base, id, 'claimed', now, { by = ARGV[8], cause = ARGV[5], why = ARGV[10] ~= '' and ARGV[10] or nil })
redis.call('HINCRBY', slot, 'claims', 1)
redis.call('SET', base .. ':claim:' .. id, ARGV[6] .. '|' .. (now + tonumber(ARGV[7])) .. '|' .. ARGV[8], 'PX', tonumber(ARGV[7]) * 10)
return { 'claimed', now, 'claimed', '' }
