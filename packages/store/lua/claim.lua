-- T1 Claim. Takes every slot of the list that is free, and says of each other one why not.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 token  3 lease ms  4 replica  5 release  6 generation  7 watermark the list starts from  8 grace ms
--      9 most backlog slots to take  10 length of the ordered list  then id, nominal instant, effective instant of each slot
-- Answer: { status, now, watermark, generation, since, then of each slot: id, at, verdict, by, until }
--   status   ok | stale (the store has another generation or a lower watermark: nothing changed) | unknown (no such job)
--   verdict  claimed | recorded | held | early | old (left to the cut) | before (not of this generation) | later (backlog, next tick)
-- include: time, transition, watermark
local base = KEYS[1]
local now = read_time(ARGV[1])
local token, lease, replica, release = ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]
local generation, grace, backlog = ARGV[6], tonumber(ARGV[8]), tonumber(ARGV[9])
local job = redis.call('HMGET', base .. ':job', 'generation', 'watermark', 'since')
if not job[1] then return { 'unknown', now, 0, 0, 0 } end
local watermark, since = tonumber(job[2]), tonumber(job[3])
if job[1] ~= generation or watermark < tonumber(ARGV[7]) then
  return { 'stale', now, watermark, tonumber(job[1]), since }
end

local listed, list = {}, {}
for index = 0, tonumber(ARGV[10]) - 1 do
  local id = ARGV[11 + index * 3]
  listed[id] = true
  list[#list + 1] = { id = id, at = tonumber(ARGV[12 + index * 3]), effective = tonumber(ARGV[13 + index * 3]) }
end
-- T1: due and claimed slots of whatever generation are merged in, so that an edit or a rollback loses none of them.
local merged = {}
for _, slot in ipairs(list) do merged[#merged + 1] = slot end
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

local function take(slot, state)
  local key = base .. ':claim:' .. slot.id
  local value = token .. '|' .. (now + lease) .. '|' .. replica
  -- The lease is a value; the key's own expiry only cleans up after it (A1).
  if not redis.call('SET', key, value, 'NX', 'PX', lease * 10) then
    local held = redis.call('GET', key)
    local until_at, holder = string.match(held, '^[^|]*|(%d+)|(.*)$')
    if tonumber(until_at) > now then return 'held', holder, tonumber(until_at) end
    redis.call('SET', key, value, 'PX', lease * 10)
  end
  local slot_key = base .. ':slot:' .. slot.id
  if not state then
    redis.call('HSET', slot_key, 'at', slot.at, 'effective', slot.effective, 'cause', 'on-time')
  end
  if state == 'claimed' then
    note(base, slot.id, now, 'claimed', { by = replica, release = release, after = 'lease ended' })
  else
    transition(base, slot.id, 'claimed', now, { by = replica, release = release })
  end
  redis.call('HSET', slot_key, 'claimedBy', replica, 'claimedAt', now, 'release', release, 'generation', generation)
  redis.call('HINCRBY', slot_key, 'claims', 1)
  return 'claimed', replica, now + lease
end

local answer = {}
for _, slot in ipairs(merged) do
  local state = state_of(base, slot.id)
  local open = state and PHASES[state] == 'open'
  local verdict, by, until_at = 'recorded', '', 0
  if open or not state then
    if slot.effective > now then
      verdict = 'early'
    elseif not open and slot.at <= since then
      verdict = 'before'
    elseif not open and (slot.at <= watermark or in_gap(base, slot.at)) then
      verdict = 'recorded'
    elseif not open and slot.effective < now - grace then
      verdict = 'old'
    else
      local late = slot.effective < now - grace
      if late and backlog <= 0 then
        verdict = 'later'
      else
        verdict, by, until_at = take(slot, state)
        if late and verdict == 'claimed' then backlog = backlog - 1 end
      end
    end
  end
  for _, value in ipairs({ slot.id, slot.at, verdict, by, until_at }) do answer[#answer + 1] = value end
end
local head = { 'ok', now, advance(base, list), tonumber(generation), since }
for _, value in ipairs(answer) do head[#head + 1] = value end
return head
