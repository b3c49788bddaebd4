-- T12 Where a job has more gaps than are kept, the oldest fold into the sums of their days. Whoever asks counted their slots day by day.
--
-- KEYS[1] job key
-- ARGV 1 now or '' (unused)  then of each gap (at most 100): from, to, count, how many days, then day (YYYY-MM-DD), count of each
-- Answer: how many folded; one that is another by now is left
local base = KEYS[1]
local watermark = tonumber(redis.call('HGET', base .. ':job', 'watermark') or 0)
local folded, index = 0, 2

local function take(from, to, count)
  -- What stands above the watermark is what says that it was recorded.
  if to > watermark then return nil end
  for _, line in ipairs(redis.call('ZRANGEBYSCORE', base .. ':gaps', to, to)) do
    local gap = cjson.decode(line)
    if gap.from == from and gap.count == count then
      redis.call('ZREM', base .. ':gaps', line)
      return gap
    end
  end
  return nil
end

while index <= #ARGV do
  local gap = take(tonumber(ARGV[index]), tonumber(ARGV[index + 1]), tonumber(ARGV[index + 2]))
  local days = tonumber(ARGV[index + 3])
  if gap then
    folded = folded + 1
    for day = index + 4, index + 3 + 2 * days, 2 do
      redis.call('HINCRBY', base .. ':day:' .. ARGV[day], gap.state, ARGV[day + 1])
      redis.call('ZADD', base .. ':days', tonumber((string.gsub(ARGV[day], '-', ''))), ARGV[day])
    end
  end
  index = index + 4 + 2 * days
end
return folded
