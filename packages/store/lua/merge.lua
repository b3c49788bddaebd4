-- T12 Makes one gap of neighbours that did not run for one reason, or grows the gap beside them. Compare-and-set: whoever asks
-- reckoned with the schedule that no other slot lies between; whatever changed meanwhile, nothing is lost or doubled.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 generation  3 from (exclusive)  4 to  5 how many slots  6 state  7 reason
-- Answer: merged | moved (something there is another by now)
-- include: time, dropped
local MOST = 200
local base, from, to = KEYS[1], tonumber(ARGV[3]), tonumber(ARGV[4])
local now = read_time(ARGV[1])
local job = redis.call('HMGET', base .. ':job', 'generation', 'watermark', 'since')
if job[1] ~= ARGV[2] or to > tonumber(job[2]) or from < tonumber(job[3]) then return 'moved' end

local ids, found = {}, redis.call('ZRANGEBYSCORE', base .. ':slots', '(' .. from, to, 'LIMIT', 0, MOST + 1)
local lines = redis.call('ZRANGEBYSCORE', base .. ':gaps', '(' .. from, '+inf', 'LIMIT', 0, MOST + 1)
for _, id in ipairs(found) do
  -- T11: a run by hand within a gap stands for no slot of the schedule.
  if not string.find(id, '+', 1, true) then
    local state, reason = read_dropped(base, id)
    if state ~= ARGV[6] or reason ~= ARGV[7] then return 'moved' end
    ids[#ids + 1] = id
  end
end
if #found > MOST or #ids == 0 and #lines < 2 then return 'moved' end
local count, by, recorded_at, within = #ids, 'history', 0, {}
for _, line in ipairs(lines) do
  local gap = cjson.decode(line)
  if gap.from >= to then break end
  if gap.from < from or gap.to > to or gap.state ~= ARGV[6] or gap.reason ~= ARGV[7] then return 'moved' end
  count, by, recorded_at = count + gap.count, gap.by, math.max(recorded_at, gap.at)
  within[#within + 1] = line
end
if count ~= tonumber(ARGV[5]) then return 'moved' end

local last = #ids > 0 and redis.call('LINDEX', base .. ':events:' .. ids[#ids], -1)
if last then recorded_at = math.max(recorded_at, cjson.decode(last).at) end
for _, line in ipairs(within) do redis.call('ZREM', base .. ':gaps', line) end
for _, id in ipairs(ids) do
  redis.call('ZREM', base .. ':slots', id)
  redis.call('DEL', base .. ':slot:' .. id, base .. ':events:' .. id, base .. ':claim:' .. id)
end
redis.call('ZADD', base .. ':gaps', to, cjson.encode({ from = from, to = to, count = count, state = ARGV[6], reason = ARGV[7],
  at = recorded_at > 0 and recorded_at or now, by = by }))
return 'merged'
