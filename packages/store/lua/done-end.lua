-- W7: the end of one attempt at `done`. Out of attempts, it is a dead letter of the run.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 slot id  3 outcome version  4 verdict (done, retry, dead, back: it was no attempt)  5 attempt  6 error JSON or ''
--      7 dead letter id  8 worker  9 release
-- Answer: written | stale
-- include: time, transition, dead-letter
local base, id = KEYS[1], ARGV[2]
local now = read_time(ARGV[1])
local slot = base .. ':slot:' .. id
local fields = redis.call('HMGET', slot, 'version', 'doneState')
if fields[1] ~= ARGV[3] or fields[2] ~= 'due' then return 'stale' end
-- Promise 7: an attempt that stalled while another began ends nothing but well.
local newest = redis.call('HGET', slot, 'doneAttempts')
if ARGV[4] ~= 'done' and newest ~= ARGV[5] then return 'stale' end
local errors = base .. ':errors:' .. id .. ':done'
if ARGV[6] ~= '' then keep_error(errors, ARGV[6]) end
if ARGV[4] == 'done' then
  redis.call('HSET', slot, 'doneState', 'done')
  redis.call('ZREM', base .. ':done', id)
  redis.call('DEL', errors)
  local dead = base .. ':dead:' .. ARGV[7]
  if redis.call('HGET', dead, 'state') == 'redriven' then redis.call('HSET', dead, 'state', 'resolved', 'resolvedAt', now) end
elseif ARGV[4] == 'back' then
  redis.call('HINCRBY', slot, 'doneAttempts', -1)
elseif ARGV[4] == 'dead' then
  redis.call('HSET', slot, 'doneState', 'dead')
  redis.call('ZREM', base .. ':done', id)
  bury(base, { id = ARGV[7], slot = id, reason = 'done', errors = errors, attempts = tonumber(ARGV[5]), worker = ARGV[8],
    release = ARGV[9], now = now })
  note(base, id, now, 'done failed', { attempts = tonumber(ARGV[5]) })
end
return 'written'
