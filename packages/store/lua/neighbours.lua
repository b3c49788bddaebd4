-- T12 Finds neighbours that did not run for one reason, records and gaps: `merge` makes one gap of them. Goes on where the fleet's last
-- look ended, and once a day from the start: a chain whose merge a crash prevented, or what was changed by hand, is found then.
--
-- KEYS[1] job key
-- ARGV 1 now or '' (unused)  2 start of the generation: what is older is left as it is
--      3 how many of the newest records are left as they are
-- Answer: { 1 where there is more to look at, else 0, then of each chain: state, reason, how many, then from (exclusive), to, count of
--   each of them }
-- include: dropped
local LOOKED_AT, DAY_MS = 100, 24 * 3600 * 1000
local base, since = KEYS[1], tonumber(ARGV[2])
local place = base .. ':merging'
local after = math.max(since, tonumber(redis.call('GET', place) or 0))
local newest = redis.call('ZREVRANGE', base .. ':slots', ARGV[3], ARGV[3], 'WITHSCORES')
if #newest == 0 then return { 0 } end
-- What stands above the watermark is what says that it was recorded.
local reach = math.min(tonumber(newest[2]), tonumber(redis.call('HGET', base .. ':job', 'watermark') or 0))
local ids = redis.call('ZRANGEBYSCORE', base .. ':slots', '(' .. after, reach, 'WITHSCORES', 'LIMIT', 0, LOOKED_AT)
local ends = #ids < 2 * LOOKED_AT
if not ends then reach = tonumber(ids[#ids]) end
-- One that ends where the last look did is grown by what follows.
local gaps = redis.call('ZRANGEBYSCORE', base .. ':gaps', after, reach, 'LIMIT', 0, LOOKED_AT)
local parts = {}
for index, line in ipairs(gaps) do
  local gap = cjson.decode(line)
  parts[#parts + 1] = { from = gap.from, to = gap.to, count = gap.count, state = gap.from >= since and gap.state, reason = gap.reason }
  if index == LOOKED_AT then reach, ends = gap.to, false end
end
for index = 1, #ids, 2 do
  local at = tonumber(ids[index + 1])
  if at > reach then break end
  local state, reason = read_dropped(base, ids[index])
  parts[#parts + 1] = { from = at - 1, to = at, count = 1, state = state, reason = reason }
end
table.sort(parts, function(a, b) return a.to < b.to end)

local answer, chain = { 0 }, {}
local function close()
  if #chain > 1 then
    for _, value in ipairs({ chain[1].state, chain[1].reason, #chain }) do answer[#answer + 1] = value end
    for _, part in ipairs(chain) do
      for _, value in ipairs({ part.from, part.to, part.count }) do answer[#answer + 1] = value end
    end
  end
end
for _, part in ipairs(parts) do
  local last = chain[#chain]
  if not (last and part.state and part.state == last.state and part.reason == last.reason and part.from >= last.to) then
    close()
    chain = {}
  end
  if part.state then chain[#chain + 1] = part end
end
close()
-- One that stands alone at the end may have its neighbours in what follows.
local next_after = math.max(after, #chain == 1 and chain[1].from or reach)
if next_after > after then
  local left = redis.call('PTTL', place)
  redis.call('SET', place, string.format('%.0f', next_after), 'PX', left > 0 and left or DAY_MS)
end
answer[1] = (ends or next_after == after) and 0 or 1
return answer
