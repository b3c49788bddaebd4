-- W1: no live worker has the handler (or the version) for a run by its finish tolerance, and one that lacks it handed it back: the
-- run is failed, with a dead letter of its plan, and can be redriven.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 slot id  3 dead letter id  4 error JSON  5 worker  6 release
-- Answer: failed | started (it has begun meanwhile, or is over)
-- include: time, transition, dead-letter
local base, id = KEYS[1], ARGV[2]
local now = read_time(ARGV[1])
if state_of(base, id) ~= 'enqueued' then return 'started' end
local errors = base .. ':errors:' .. id .. ':plan'
keep_error(errors, ARGV[4])
bury(base, { id = ARGV[3], slot = id, reason = 'no handler', errors = errors, attempts = 0, worker = ARGV[5], release = ARGV[6],
  now = now })
redis.call('HSET', base .. ':slot:' .. id, 'finishedAt', now, 'version', 1)
drop(base, id, 'failed', now, 'no handler: no live worker has it')
return 'failed'
