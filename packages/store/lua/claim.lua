-- T1 Claim. Takes every slot of the list that is free, and says of each other one why not.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 what is asked, as JSON: a thousand of these go out at once, and one text is cheaper than its twenty parts
--      token, lease (ms), replica, release, generation, watermark the list starts from, grace (ms), backlog: most backlog slots to take,
--      overlap policy, timeout (ms), useBy (ms after the effective instant, or 0), queue, payload version,
--      slots: the ordered list, each [id, nominal instant, effective instant], complete: how many of them are all there are from the
--      watermark on
-- Answer: { status, now, watermark, generation, since, then of each slot: id, at, verdict, by, until }
--   status   ok | stale (the store has another generation or a lower watermark) | unknown (no such job) | switching (another
--            image is to be in force: close, T7) | paused | resuming (cut first, T10) | gone (T8)
--            | restoring (memories are merged, S2) | restored (cut first, S3). Nothing changed but for ok.
--   verdict  claimed | recorded | held | early | old (left to the cut) | before (not of this generation, or after the removal) | later (backlog)
--            | behind (backlog, and a run before it has not ended)
--            | skipped (the overlap policy or its use-by dropped it just now) | waiting (for the run before it)
-- include: time, transition, watermark, fence, run, overlap
local base = KEYS[1]
local now = read_time(ARGV[1])
local asked = cjson.decode(ARGV[2])
local token, lease, replica, release = asked.token, asked.lease, asked.replica, asked.release
local generation, grace, backlog = asked.generation, asked.grace, asked.backlog
local policy, use_by = { name = asked.overlap, timeout = asked.timeout }, asked.useBy
local job = redis.call('HMGET', base .. ':job', 'generation', 'watermark', 'since', 'image', 'target', 'paused', 'pausedUntil', 'goneAt',
  'restoringUntil')
if not job[1] then return { 'unknown', now, 0, 0, 0 } end
local watermark, since = tonumber(job[2]), tonumber(job[3])

local function answer_only(status) return { status, now, watermark, tonumber(job[1]), since } end
if job[9] then return answer_only(tonumber(job[9]) > now and 'restoring' or 'restored') end
if tonumber(job[1]) ~= generation or watermark < asked.watermark then return answer_only('stale') end
-- T8: what a job owed up to its removal stays due; when that is taken, nothing is left to do.
local gone = tonumber(job[8])
local function owes_until(at)
  for _, slot in ipairs(asked.slots) do
    if slot[2] <= at then return true end
  end
  return redis.call('EXISTS', base .. ':open') == 1
end
if gone and not owes_until(gone) then return answer_only('gone') end
if job[6] == 'resuming' or (job[6] == '1' and tonumber(job[7]) > 0 and tonumber(job[7]) <= now) then return answer_only('resuming') end
if job[6] == '1' then return answer_only('paused') end
if job[5] ~= job[4] and not gone then return answer_only('switching') end

local listed, list, merged = {}, {}, {}
for index, one in ipairs(asked.slots) do
  local slot = { id = one[1], at = one[2], effective = one[3] }
  listed[slot.id] = true
  -- The watermark advances along what is complete; the newest slots beside it would carry it past what nobody listed.
  if index <= asked.complete then list[#list + 1] = slot end
  merged[#merged + 1] = slot
end
-- T1: due and claimed slots of whatever generation are merged in, so that an edit or a rollback loses none of them.
for _, id in ipairs(redis.call('ZRANGE', base .. ':open', 0, 99)) do
  if not listed[id] then
    local stored = redis.call('HMGET', base .. ':slot:' .. id, 'at', 'effective')
    merged[#merged + 1] = { id = id, at = tonumber(stored[1]), effective = tonumber(stored[2]) }
  end
end
table.sort(merged, function(a, b)
  if a.at ~= b.at then return a.at < b.at end
  return a.id < b.id
end)

-- Where a lease runs: who holds it, until when.
local function lease_of(id)
  local held = redis.call('GET', base .. ':claim:' .. id)
  if not held then return nil end
  local until_at, holder = string.match(held, '^[^|]*|(%d+)|(.*)$')
  if tonumber(until_at) <= now then return nil end
  -- A connection that lost the answer sends the claim again: it is its own.
  if string.match(held, '^([^|]*)|') == token then return 'self', tonumber(until_at) end
  return holder, tonumber(until_at)
end

-- The facts that a slot's record begins with.
local function birth(slot)
  local facts = { 'at', slot.at, 'effective', slot.effective, 'cause', 'on-time', 'generation', generation }
  if use_by > 0 then
    facts[#facts + 1] = 'useBy'
    facts[#facts + 1] = slot.effective + use_by
  end
  return facts
end

local function take(slot, state)
  local key = base .. ':claim:' .. slot.id
  local value = token .. '|' .. (now + lease) .. '|' .. replica
  -- The lease is a value; the key's own expiry only cleans up after it (A1). Here it is free or its lease has ended.
  if not redis.call('SET', key, value, 'NX', 'PX', lease * 10) then redis.call('SET', key, value, 'PX', lease * 10) end
  local facts = state and {} or birth(slot)
  if not state then
    facts[#facts + 1] = 'claims'
    facts[#facts + 1] = 1
  end
  for _, fact in ipairs({ 'claimedBy', replica, 'claimedAt', now, 'release', release, 'queue', asked.queue, 'payload', asked.version }) do facts[#facts + 1] = fact end
  local slot_key = base .. ':slot:' .. slot.id
  if state == 'claimed' then
    redis.call('HSET', slot_key, unpack(facts))
    note(base, slot.id, now, 'claimed', { by = replica, release = release, after = 'lease ended' })
  else
    transition(base, slot.id, 'claimed', now, { by = replica, release = release }, facts)
  end
  if state then
    redis.call('HINCRBY', slot_key, 'claims', 1)
    redis.call('HDEL', slot_key, 'waiting')
  end
  return 'claimed', replica, now + lease
end

-- T5: a slot later than the window is not run. Without an end, backlog behind runs that follow each other closely would wait for ever.
local function catch_up_window()
  return cjson.decode(redis.call('HGET', base .. ':job', 'settings')).catchUp.withinMs
end

-- A slot that is due or claimed: its lease, its use-by and its turn in the backlog come before the overlap policy.
local function try_open(slot, state)
  local holder, until_at = lease_of(slot.id)
  if holder == 'self' then return 'claimed', replica, until_at end
  if holder then return 'held', holder, until_at end
  if state == 'claimed' then return take(slot, state) end
  local stored = redis.call('HMGET', base .. ':slot:' .. slot.id, 'cause', 'useBy')
  local expires = tonumber(stored[2])
  -- T10: what the cut or an edit admitted has no use-by yet; its start and the sweep go by the record. What was asked for has none.
  if not expires and use_by > 0 and stored[1] ~= 'manual' and stored[1] ~= 'backfill' then
    expires = slot.effective + use_by
    redis.call('HSET', base .. ':slot:' .. slot.id, 'useBy', expires)
  end
  if expires and expires < now then
    drop(base, slot.id, 'skipped', now, 'expired: not started by its use-by')
    return 'skipped'
  end
  slot.backlog = is_backlog(stored[1])
  if slot.backlog and backlog <= 0 then return 'later' end
  local verdict = is_manual(slot.id) and 'take' or admit(base, slot, now, policy)
  if verdict == 'behind' and stored[1] ~= 'backfill' and slot.effective + catch_up_window() < now then
    drop(base, slot.id, 'missed', now, 'later than the catch-up window: the runs before it did not end in time')
    return 'skipped'
  end
  if verdict ~= 'take' then return verdict end
  if slot.backlog then backlog = backlog - 1 end
  return take(slot, state)
end

-- A slot the ledger has nothing about, and young.
local function try_new(slot)
  local made = false
  slot.create = function()
    made = true
    redis.call('HSET', base .. ':slot:' .. slot.id, unpack(birth(slot)))
  end
  local verdict = admit(base, slot, now, policy)
  if verdict ~= 'take' then return verdict end
  return take(slot, made and state_of(base, slot.id) or nil)
end

-- A slot that is on time goes before the backlog, which runs oldest first (T5).
local verdicts, backlogged = {}, {}
local function judge(slot, backlog_turn)
  local stored = redis.call('HMGET', base .. ':slot:' .. slot.id, 'state', 'cause')
  local state = stored[1] or nil
  local open = state and PHASES[state] == 'open'
  if open and is_backlog(stored[2]) and not backlog_turn then
    backlogged[#backlogged + 1] = slot
    return
  end
  local verdict, by, until_at = 'recorded', '', 0
  if open or not state then
    if slot.effective > now then
      verdict = 'early'
    elseif not open and (slot.at <= since or gone and slot.at > gone) then
      verdict = 'before'
    elseif not open and (slot.at <= watermark or in_gap(base, slot.at)) then
      verdict = 'recorded'
    elseif not open and slot.effective < now - grace then
      verdict = 'old'
    else
      if open then
        verdict, by, until_at = try_open(slot, state)
      else
        verdict, by, until_at = try_new(slot)
      end
    end
  end
  verdicts[#verdicts + 1] = { slot.id, slot.at, verdict, by or '', until_at or 0 }
end
for _, slot in ipairs(merged) do judge(slot, false) end
for _, slot in ipairs(backlogged) do judge(slot, true) end

local answer = { 'ok', now, advance(base, list, watermark), generation, since }
for _, verdict in ipairs(verdicts) do
  for _, value in ipairs(verdict) do answer[#answer + 1] = value end
end
return answer
