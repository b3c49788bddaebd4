-- T12 History: what is past its time or its number folds into daily sums of its nominal day (UTC). Open work and open dead
-- letters stay in detail.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 oldest instant kept in detail  3 most slots kept in detail  4 oldest day kept, YYYY-MM-DD  5 most at once
-- Answer: { folded, left in detail }
-- include: time, transition, fence
local base = KEYS[1]
local now = read_time(ARGV[1])
local slots = base .. ':slots'
local over = redis.call('ZCARD', slots) - tonumber(ARGV[3])
local most = tonumber(ARGV[5])

local function day_of(id)
  return string.sub(id, 1, 4) .. '-' .. string.sub(id, 5, 6) .. '-' .. string.sub(id, 7, 8)
end

local folded = 0
for index, id in ipairs(redis.call('ZRANGE', slots, 0, most - 1)) do
  local slot = base .. ':slot:' .. id
  local fields = redis.call('HMGET', slot, 'at', 'state', 'dead', 'doneState')
  local past = tonumber(fields[1]) < tonumber(ARGV[2]) or index <= over
  local closed = PHASES[fields[2]] == 'ended' or PHASES[fields[2]] == 'dropped' or fields[2] == 'enqueued' and not redis.call('ZSCORE', base .. ':active', id)
  local letters = redis.call('ZRANGE', base .. ':dead:of:' .. id, 0, 0)
  if past and closed and #letters == 0 and fields[4] ~= 'due' then
    local kind = string.find(id, '+', 1, true) and 'manual' or fields[2]
    redis.call('HINCRBY', base .. ':day:' .. day_of(id), kind, 1)
    redis.call('ZADD', base .. ':days', tonumber(string.sub(id, 1, 8)), day_of(id))
    redis.call('ZREM', slots, id)
    redis.call('DEL', slot, base .. ':events:' .. id, base .. ':claim:' .. id, plan_key(base, id), base .. ':chunks:' .. id,
      base .. ':kept:' .. id)
    -- R5: the fold of receipts outlives the detail by its own expiry.
    folded = folded + 1
  end
end
local first = tonumber((string.gsub(ARGV[4], '-', '')))
for _, day in ipairs(redis.call('ZRANGEBYSCORE', base .. ':days', '-inf', first - 1, 'LIMIT', 0, 50)) do
  redis.call('DEL', base .. ':day:' .. day)
  redis.call('ZREM', base .. ':days', day)
end
return { folded, redis.call('ZCARD', slots) }
