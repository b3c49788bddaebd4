-- T8 The keys of a job whose removal is final go when history no longer reaches back to it, a bounded number at once; the definition
-- goes last. A job that was registered again meanwhile is not touched.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 ms that history is kept after the removal  3 ms more that what is under way is waited for
--      then the ids of dead letters (at most 100) that are off the dead-letter queue: they are deleted
-- Answer: { status, when to look again or 0, then ids of dead letters that are to be taken off the queue first }
--   status  erased (nothing is left) | more | early | back (it is a job again)
-- include: time
local MOST_SLOTS, MOST = 50, 100
local base = KEYS[1]
local now = read_time(ARGV[1])
local job = redis.call('HMGET', base .. ':job', 'generation', 'goneAt')
if job[1] and not job[2] then return { 'back', 0 } end
if job[1] then
  local until_at = tonumber(job[2]) + tonumber(ARGV[2])
  if now < until_at then return { 'early', until_at } end
  -- Whoever redrives a dead letter of an old job has it run to its end.
  local is_busy = redis.call('EXISTS', base .. ':open', base .. ':active') > 0
  if is_busy and now < until_at + tonumber(ARGV[3]) then return { 'early', now + 24 * 3600 * 1000 } end
end

local function unlink(suffixes)
  local keys = {}
  for index, suffix in ipairs(suffixes) do keys[index] = base .. suffix end
  redis.call('UNLINK', unpack(keys))
end

for index = 4, #ARGV do
  local id = ARGV[index]
  local slot = redis.call('HGET', base .. ':dead:' .. id, 'slot')
  unlink({ ':dead:' .. id, ':dead:' .. id .. ':errors' })
  for _, set in ipairs({ ':dead', ':views', slot and ':dead:of:' .. slot or nil }) do redis.call('ZREM', base .. set, id) end
end

local letters = redis.call('ZRANGE', base .. ':dead', 0, MOST - 1)
local slots = redis.call('ZRANGE', base .. ':slots', 0, MOST_SLOTS - 1)
for _, id in ipairs(slots) do
  if #letters > 0 then break end
  letters = redis.call('ZRANGE', base .. ':dead:of:' .. id, 0, MOST - 1)
end
if #letters > 0 then return { 'more', 0, unpack(letters) } end

for _, id in ipairs(slots) do
  local chunks = redis.call('ZRANGE', base .. ':chunks:' .. id, 0, MOST - 1)
  for _, number in ipairs(chunks) do
    unlink({ ':chunk:' .. id .. ':' .. number, ':receipts:' .. id .. ':' .. number })
    redis.call('ZREM', base .. ':chunks:' .. id, number)
  end
  if #chunks == MOST then return { 'more', 0 } end
  unlink({ ':slot:' .. id, ':events:' .. id, ':claim:' .. id, ':plan:' .. id, ':chunks:' .. id, ':members:' .. id, ':kept:' .. id,
    ':dead:of:' .. id })
  redis.call('ZREM', base .. ':slots', id)
end
if #slots == MOST_SLOTS then return { 'more', 0 } end

for set, row in pairs({ [':images'] = ':image:', [':days'] = ':day:' }) do
  local rows = redis.call('ZRANGE', base .. set, 0, MOST - 1)
  for _, name in ipairs(rows) do
    unlink({ row .. name })
    redis.call('ZREM', base .. set, name)
  end
  if #rows == MOST then return { 'more', 0 } end
end
unlink({ ':images', ':generations', ':slots', ':gaps', ':days', ':open', ':active', ':live', ':done', ':views', ':letting', ':limit',
  ':dead', ':before', ':folding', ':merging', ':looked', ':journal', ':job' })
return { 'erased', 0 }
