-- W2: writes one page of the plan as one chunk, compare-and-set on the cursor it was read after. A page is never read twice
-- once it is written: a resume goes on from the cursor. The same key twice in a plan is one entity.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 slot id  3 fence  4 cursor the page was read after  5 next cursor  6 last page (0, 1)  then of each
--      member: 8-byte hash of its key, JSON of [key, payload] or [key, payload, fault]
-- Answer: { status, now, chunk number or -1, chunks open, outcome state or '', outcome version or 0 }
--   status  written | fenced | moved (the cursor is another: this page was written before)
-- include: time, transition, fence, run
local base, id = KEYS[1], ARGV[2]
local now = read_time(ARGV[1])
local key = plan_key(base, id)
if not holds_plan(base, id, ARGV[3]) then return { 'fenced', now, -1, 0, '', 0 } end
local plan = redis.call('HMGET', key, 'cursor', 'complete', 'walks')
if (plan[1] or '') ~= ARGV[4] or plan[2] == '1' then return { 'moved', now, -1, 0, '', 0 } end

-- Planned members are a compact set: shards of packed 8-byte hashes (R3). Two keys of one run share a hash with odds of about
-- n^2 / 2^65: 3e-8 for a million entities. Each shard is read and written once a page, for it grows with the run.
local SHARDS = 4096
local members_key = base .. ':members:' .. id
local function contains(packed, hash)
  local from = 1
  while true do
    local position = string.find(packed, hash, from, true)
    if not position then return false end
    if position % 8 == 1 then return true end
    from = position + 1
  end
end

local stored, fresh, members, duplicates = {}, {}, {}, 0
for index = 7, #ARGV, 2 do
  local hash = ARGV[index]
  local shard = (string.byte(hash, 1) * 256 + string.byte(hash, 2)) % SHARDS
  stored[shard] = stored[shard] or redis.call('HGET', members_key, shard) or ''
  if contains(stored[shard], hash) or fresh[shard] and contains(fresh[shard], hash) then
    duplicates = duplicates + 1
  else
    fresh[shard] = (fresh[shard] or '') .. hash
    members[#members + 1] = ARGV[index + 1]
  end
end
for shard, hashes in pairs(fresh) do redis.call('HSET', members_key, shard, stored[shard] .. hashes) end

local number = -1
if #members > 0 then
  number = redis.call('HINCRBY', key, 'written', 1) - 1
  local chunk = chunk_key(base, id, number)
  redis.call('HSET', chunk, 'members', '[' .. table.concat(members, ',') .. ']', 'states', string.rep('.', #members),
    'left', #members, 'fence', 0)
  redis.call('ZADD', base .. ':chunks:' .. id, now, number)
  redis.call('HINCRBY', base .. ':slot:' .. id, 'planned', #members)
end
-- R4: a plan that is walked again finds what it planned before; that is no fault of the source.
if duplicates > 0 and plan[3] ~= 'again' then redis.call('HINCRBY', base .. ':slot:' .. id, 'duplicates', duplicates) end
redis.call('HSET', key, 'cursor', ARGV[5], 'complete', ARGV[6], 'attempts', 0, 'fruitless', 0, 'touchedAt', now)
local state, version
if ARGV[6] == '1' then
  local letter = redis.call('HGET', key, 'letter')
  if letter then redis.call('HSET', base .. ':dead:' .. letter, 'state', 'resolved', 'resolvedAt', now) end
  redis.call('HDEL', key, 'letter')
  note(base, id, now, 'planned', { entities = tonumber(redis.call('HGET', base .. ':slot:' .. id, 'planned') or 0),
    chunks = tonumber(redis.call('HGET', key, 'written')) })
  state, version = end_if_closed(base, id, now)
end
local counts = redis.call('HMGET', key, 'written', 'closed')
return { 'written', now, number, tonumber(counts[1] or 0) - tonumber(counts[2] or 0), state or '', version or 0 }
