-- W1: no live worker has the handler (or the version) for a run, and one that lacks it handed its task back. A run that nobody has
-- started by its finish tolerance is failed. One that is under way is given up when it has stood still for as long as that, so that
-- no deploy does it: its plan is closed as failed, and what its open chunks hold is dead-lettered chunk by chunk, by whoever is
-- handed one. Both can be redriven.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 slot id  3 dead letter id  4 error JSON  5 worker  6 release  7 the finish tolerance has passed (0, 1)
--      8 ms that a run under way must have stood still
-- Answer: { status, outcome state or '', outcome version or 0 }
--   status  failed | standing (not given up yet) | given-up (the run was under way) | over (nothing to give up)
-- include: time, transition, dead-letter, fence, run
local base, id = KEYS[1], ARGV[2]
local now = read_time(ARGV[1])
local slot, plan = base .. ':slot:' .. id, plan_key(base, id)
local state = state_of(base, id)

local function bury_plan()
  local errors = base .. ':errors:' .. id .. ':plan'
  keep_error(errors, ARGV[4])
  bury(base, { id = ARGV[3], slot = id, reason = 'no handler', errors = errors, attempts = 0, worker = ARGV[5], release = ARGV[6],
    now = now })
end

if state == 'enqueued' then
  if ARGV[7] ~= '1' then return { 'standing', '', 0 } end
  bury_plan()
  redis.call('HSET', slot, 'finishedAt', now, 'version', 1)
  drop(base, id, 'failed', now, 'no handler: no live worker has it')
  return { 'failed', 'failed', 1 }
end
if state ~= 'running' then return { 'over', '', 0 } end
local marks = redis.call('HMGET', slot, 'unserved', 'unservedAt', 'unservedMark')
if marks[1] == '1' then return { 'given-up', '', 0 } end
-- What changes with whatever a worker does that has the handler.
local counts = redis.call('HMGET', slot, 'starts', 'planned', 'done', 'dead', 'abandoned', 'retries', 'crashes')
local mark = redis.call('HGET', plan, 'fence') or ''
for index = 1, 7 do mark = mark .. ' ' .. (counts[index] or '') end
if marks[3] ~= mark then
  redis.call('HSET', slot, 'unservedAt', now, 'unservedMark', mark)
  return { 'standing', '', 0 }
end
if ARGV[7] ~= '1' or now - tonumber(marks[2]) < tonumber(ARGV[8]) then return { 'standing', '', 0 } end
redis.call('HSET', slot, 'unserved', 1)
note(base, id, now, 'given up', { reason = 'no live worker has its handler' })
if redis.call('HGET', plan, 'complete') ~= '1' then
  bury_plan()
  redis.call('HSET', plan, 'complete', 1, 'failed', 1, 'paused', 0)
  redis.call('HINCRBY', plan, 'fence', 1)
end
local outcome, version = end_if_closed(base, id, now)
return { 'given-up', outcome or '', version or 0 }
