-- W2: writes one page of the plan as one chunk, compare-and-set on the cursor it was read after. A page is never read twice
-- once it is written: a resume goes on from the cursor. The same key twice in a plan is one entity.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 slot id  3 fence  4 cursor the page was read after  5 next cursor  6 last page (0, 1)
--      7 hashes of the members' keys, 8 bytes each  8 JSON list of the members, each [key, payload] or [key, payload, fault] on a
--      line of its own: '[' first ',\n' second ... ']'
-- Answer: { status, now, chunk number or -1, chunks open, outcome state or '', outcome version or 0 }
--   status  written | fenced | moved (the cursor is another: this page was written before)
-- include: time, transition, fence, run
local base, id = KEYS[1], ARGV[2]
local now = read_time(ARGV[1])
local key = plan_key(base, id)
if not holds_plan(base, id, ARGV[3]) then return { 'fenced', now, -1, 0, '', 0 } end
local plan = redis.call('HMGET', key, 'cursor', 'complete', 'walks')
if (plan[1] or '') ~= ARGV[4] or plan[2] == '1' then return { 'moved', now, -1, 0, '', 0 } end

-- Planned members are a compact set: shards of packed 8-byte hashes (R3), named by the first twelve bits. Two keys of one run share a
-- hash with odds of about n^2 / 2^65: 3e-8 for a million entities.
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

-- A page costs two commands, not two for each of its members; and what is done for each of a million of them is as little as can be.
local sub, byte = string.sub, string.byte
local LOW_BITS = {}
for bits = 0, 15 do LOW_BITS[bits] = string.char(bits) end
local packed_hashes = ARGV[7]
local hashes, shards = {}, {}
for first = 1, #packed_hashes, 8 do
  local index = (first + 7) / 8
  hashes[index] = sub(packed_hashes, first, first + 7)
  shards[index] = sub(packed_hashes, first, first) .. LOW_BITS[byte(packed_hashes, first + 1) % 16]
end
local stored = #shards > 0 and redis.call('HMGET', members_key, unpack(shards)) or {}
-- Where two members share a shard, the second sees what the first has made of it.
local changed, changes, is_fresh, planned, again = {}, {}, {}, 0, 0
for index, hash in ipairs(hashes) do
  local shard = shards[index]
  local packed = changed[shard] or stored[index]
  if packed and contains(packed, hash) then
    again = again + 1
  else
    packed = packed and packed .. hash or hash
    changed[shard] = packed
    is_fresh[index] = true
    planned = planned + 1
    changes[2 * planned - 1] = shard
    changes[2 * planned] = packed
  end
end
if planned > 0 then redis.call('HSET', members_key, unpack(changes)) end

local function without_known(list)
  local kept, index = {}, 0
  for member in string.gmatch(string.sub(list, 2, -2) .. ',\n', '(.-),\n') do
    index = index + 1
    if is_fresh[index] then kept[#kept + 1] = member end
  end
  return '[' .. table.concat(kept, ',\n') .. ']'
end

local number = -1
if planned > 0 then
  number = redis.call('HINCRBY', key, 'written', 1) - 1
  redis.call('HSET', chunk_key(base, id, number), 'members', again == 0 and ARGV[8] or without_known(ARGV[8]),
    'states', string.rep('.', planned), 'left', planned, 'fence', 0)
  redis.call('ZADD', base .. ':chunks:' .. id, now, number)
  redis.call('HINCRBY', base .. ':slot:' .. id, 'planned', planned)
end
-- R4: a plan that is walked again finds what it planned before; that is no fault of the source.
if again > 0 and plan[3] ~= 'again' then redis.call('HINCRBY', base .. ':slot:' .. id, 'duplicates', again) end
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
