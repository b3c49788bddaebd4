-- W2: the source failed. Counted by the script that writes the attempt's end; out of attempts, the plan is closed as failed and
-- the run ends when its chunks have.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 slot id  3 fence  4 attempts allowed  5 error JSON  6 dead letter id  7 worker  8 release
-- Answer: { status, attempts, outcome state or '', outcome version or 0 }
--   status  retry | failed | fenced
-- include: time, transition, fence, run, dead-letter
local base, id = KEYS[1], ARGV[2]
local now = read_time(ARGV[1])
if not holds_plan(base, id, ARGV[3]) then return { 'fenced', 0, '', 0 } end
local key = plan_key(base, id)
-- A connection that lost the answer sends it again: the plan is closed, or this step has failed already.
local before = redis.call('HMGET', key, 'complete', 'failedStep', 'attempts')
if before[1] == '1' then return { 'failed', tonumber(ARGV[4]), '', 0 } end
if before[2] == ARGV[3] then return { 'retry', tonumber(before[3]), '', 0 } end
redis.call('HSET', key, 'fruitless', 0, 'failedStep', ARGV[3])
local attempts = redis.call('HINCRBY', key, 'attempts', 1)
local errors = base .. ':errors:' .. id .. ':plan'
keep_error(errors, ARGV[5])
note(base, id, now, 'plan failed', { attempt = attempts })
if attempts < tonumber(ARGV[4]) then return { 'retry', attempts, '', 0 } end
bury(base, { id = ARGV[6], slot = id, reason = 'plan', errors = errors, attempts = attempts, worker = ARGV[7],
  release = ARGV[8], now = now })
redis.call('HSET', key, 'complete', 1, 'failed', 1)
local state, version = end_if_closed(base, id, now)
return { 'failed', attempts, state or '', version or 0 }
