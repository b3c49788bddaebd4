-- What a watchdog needs to know of one job, in one look.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 most slots of each kind  3 most instants and gaps above the watermark  4 most durations
-- Answer: { known | unknown, now, the job's fields that are listed below, then with its count before it each of:
--   slots that have not ended: id, nominal, effective, state, cause, claimed at, claimed by, enqueued at, started at, started by,
--     outcomes so far, waits for another run (0, 1), entities planned, done
--   slots above the watermark that have a record: id;  gaps above it: from, to;  ended runs: nominal instant, duration ms }
-- include: time, transition
local base = KEYS[1]
local now = read_time(ARGV[1])
local job = redis.call('HMGET', base .. ':job', 'generation', 'since', 'watermark', 'image', 'target', 'registeredAt', 'dynamic',
  'goneAt', 'renamedTo', 'paused', 'pausedAt', 'pausedUntil', 'settings')
if not job[1] then return { 'unknown', now } end
local answer = { 'known', now }
for index = 1, 13 do answer[#answer + 1] = job[index] or '' end

local function counted(list, write)
  answer[#answer + 1] = 0
  local place = #answer
  for _, item in ipairs(list) do
    if write(item) then answer[place] = answer[place] + 1 end
  end
end

local unended = {}
for _, set in ipairs({ 'open', 'active' }) do
  for _, id in ipairs(redis.call('ZRANGE', base .. ':' .. set, 0, tonumber(ARGV[2]) - 1)) do unended[#unended + 1] = id end
end
counted(unended, function(id)
  local slot = redis.call('HMGET', base .. ':slot:' .. id, 'at', 'effective', 'state', 'cause', 'claimedAt', 'claimedBy', 'enqueuedAt',
    'startedAt', 'startedBy', 'version', 'waiting', 'planned', 'done')
  if not slot[3] then return false end
  answer[#answer + 1] = id
  for index = 1, 13 do answer[#answer + 1] = slot[index] or '' end
  return true
end)
-- A run by hand has an identity of its own and stands for no slot of the schedule.
counted(redis.call('ZRANGEBYSCORE', base .. ':slots', '(' .. job[3], '+inf', 'LIMIT', 0, ARGV[3]), function(id)
  if string.find(id, '+', 1, true) then return false end
  answer[#answer + 1] = id
  return true
end)
counted(redis.call('ZRANGEBYSCORE', base .. ':gaps', '(' .. job[3], '+inf', 'LIMIT', 0, ARGV[3]), function(line)
  local gap = cjson.decode(line)
  answer[#answer + 1] = gap.from
  answer[#answer + 1] = gap.to
  return true
end)
-- A redriven run ends anew, long after it began: its first outcome's duration is not known any more.
counted(redis.call('ZREVRANGE', base .. ':slots', 0, tonumber(ARGV[4]) - 1), function(id)
  local run = redis.call('HMGET', base .. ':slot:' .. id, 'at', 'startedAt', 'finishedAt', 'version')
  if not run[2] or not run[3] or run[4] ~= '1' then return false end
  answer[#answer + 1] = tonumber(run[1])
  answer[#answer + 1] = tonumber(run[3]) - tonumber(run[2])
  return true
end)
return answer
