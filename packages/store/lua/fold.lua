-- T12 History: what is past its time or its number folds into daily sums of its nominal day (UTC). Open work and open dead
-- letters stay in detail. What is older than the sums goes.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 oldest instant kept in detail  3 most slots kept in detail  4 oldest day kept, YYYY-MM-DD  5 most at once
--      6 the oldest day's first instant
-- Answer: { folded, left in detail, gaps, then images that are older than history and not used any more }
-- include: time, transition, fence, run, images
local base = KEYS[1]
local now = read_time(ARGV[1])
local slots = base .. ':slots'
local over = redis.call('ZCARD', slots) - tonumber(ARGV[3])
local most = tonumber(ARGV[5])

local function day_of(id)
  return string.sub(id, 1, 4) .. '-' .. string.sub(id, 5, 6) .. '-' .. string.sub(id, 7, 8)
end

-- T11: neither a run by hand nor a slot older than the job was owed.
local registered_at = tonumber(redis.call('HGET', base .. ':job', 'registeredAt') or 0)
local function kind_of(id, at, state)
  return (string.find(id, '+', 1, true) or at <= registered_at) and 'manual' or state
end

-- Dead letters go with their slot once none of them is open, a bounded number at once.
local MOST_LETTERS = 500
local function bury_letters(id)
  local of = base .. ':dead:of:' .. id
  local letters = redis.call('ZRANGE', of, 0, MOST_LETTERS - 1)
  for _, letter in ipairs(letters) do
    redis.call('DEL', base .. ':dead:' .. letter, base .. ':dead:' .. letter .. ':errors')
    redis.call('ZREM', of, letter)
  end
  return #letters < MOST_LETTERS
end

-- What stands above the watermark is what says that it was recorded: without it, it would be owed again.
local watermark = tonumber(redis.call('HGET', base .. ':job', 'watermark') or 0)
local function may_fold(id, fields, index)
  local at = tonumber(fields[1])
  if at >= tonumber(ARGV[2]) and index > over then return false end
  if at > watermark and not string.find(id, '+', 1, true) then return false end
  local closed = PHASES[fields[2]] == 'ended' or PHASES[fields[2]] == 'dropped'
    or fields[2] == 'enqueued' and not redis.call('ZSCORE', base .. ':active', id)
  return closed and tonumber(fields[3] or 0) == 0 and fields[4] ~= 'due'
end

-- Slots that stay in detail for their open dead letters are looked past, a bounded number at once; the next look goes on there.
local LOOKED_AT = 1000
local place = base .. ':folding'
local from = tonumber(redis.call('GET', place) or 0)
-- Nearly always nothing is past its time or its number.
local oldest = redis.call('ZRANGE', slots, 0, 0, 'WITHSCORES')
local is_young = over <= 0 and (not oldest[2] or tonumber(oldest[2]) >= tonumber(ARGV[2]))
local ids = is_young and {} or redis.call('ZRANGE', slots, from, from + LOOKED_AT - 1)
local folded, kept, ends = 0, 0, #ids < LOOKED_AT
for offset, id in ipairs(ids) do
  if folded >= most then
    ends = false
    break
  end
  local slot = base .. ':slot:' .. id
  local fields = redis.call('HMGET', slot, 'at', 'state', 'letters', 'doneState')
  -- What follows is younger still.
  if from + offset > over and tonumber(fields[1]) >= tonumber(ARGV[2]) then
    ends = true
    break
  end
  if may_fold(id, fields, from + offset) and bury_letters(id) then
    redis.call('HINCRBY', base .. ':day:' .. day_of(id), kind_of(id, tonumber(fields[1]), fields[2]), 1)
    redis.call('ZADD', base .. ':days', tonumber(string.sub(id, 1, 8)), day_of(id))
    redis.call('ZREM', slots, id)
    redis.call('DEL', slot, base .. ':events:' .. id, base .. ':claim:' .. id, plan_key(base, id), base .. ':chunks:' .. id,
      base .. ':kept:' .. id)
    -- R5: the fold of receipts outlives the detail by an expiry of its own.
    if redis.call('PTTL', base .. ':members:' .. id) == -1 then redis.call('PEXPIRE', base .. ':members:' .. id, RETENTION_MS) end
    folded = folded + 1
  else
    kept = kept + 1
  end
end
local next_from = ends and 0 or from + kept
if next_from ~= from then redis.call('SET', place, next_from, 'PX', 3600 * 1000) end
-- What is older than the oldest day kept: sums, gaps, and generations of which nothing is left, a bounded number at once.
local first, first_at = tonumber((string.gsub(ARGV[4], '-', ''))), tonumber(ARGV[6])
local days = redis.call('ZRANGEBYSCORE', base .. ':days', '-inf', first - 1, 'LIMIT', 0, 50)
for _, day in ipairs(days) do
  redis.call('DEL', base .. ':day:' .. day)
  redis.call('ZREM', base .. ':days', day)
end
local gaps = redis.call('ZRANGEBYSCORE', base .. ':gaps', '-inf', '(' .. math.min(first_at, watermark + 1), 'LIMIT', 0, 100)
for _, line in ipairs(gaps) do redis.call('ZREM', base .. ':gaps', line) end
-- Where a service keeps less than others do, nobody looks for what it no longer has.
if #days + #gaps > 0 and tonumber(redis.call('HGET', base .. ':job', 'keptFrom') or 0) < first_at then
  redis.call('HSET', base .. ':job', 'keptFrom', ARGV[6])
end

local function oldest_kept()
  local oldest = first_at
  for _, set in ipairs({ slots, base .. ':gaps' }) do
    local kept = redis.call('ZRANGE', set, 0, 0, 'WITHSCORES')
    if kept[2] then oldest = math.min(oldest, tonumber(kept[2])) end
  end
  return oldest
end
local generations = {}
for _, line in ipairs(redis.call('ZRANGE', base .. ':generations', 0, 50)) do
  generations[#generations + 1] = { line = line, row = cjson.decode(line) }
end
-- Two that began within a millisecond have one score.
table.sort(generations, function(a, b) return a.row.generation < b.row.generation end)
if #generations > 1 then
  local oldest = oldest_kept()
  for index = 1, #generations - 1 do
    -- Its slots are at or before the next one's start.
    if generations[index + 1].row.since >= oldest then break end
    redis.call('ZREM', base .. ':generations', generations[index].line)
  end
end

local answer = { folded, redis.call('ZCARD', slots), redis.call('ZCARD', base .. ':gaps') }
for image in pairs(unused_images(base, first_at)) do answer[#answer + 1] = image end
return answer
