-- W8: our record is the dead letter; the job on the dead-letter queue is a view of it, written afterwards from `views`.
local ERRORS_KEPT = 50

local function keep_error(key, error_json)
  redis.call('LPUSH', key, error_json)
  redis.call('LTRIM', key, 0, ERRORS_KEPT - 1)
  redis.call('PEXPIRE', key, 30 * 24 * 3600 * 1000)
end

-- fields: id, slot, entity?, reason, payload?, errors (key of a list of JSON, newest first), attempts, worker, release, now.
-- Dying again adds a life and keeps what was written before.
local function bury(base, fields)
  local key = base .. ':dead:' .. fields.id
  local errors = redis.call('LRANGE', fields.errors, 0, -1)
  for index = #errors, 1, -1 do redis.call('LPUSH', key .. ':errors', errors[index]) end
  redis.call('LTRIM', key .. ':errors', 0, ERRORS_KEPT - 1)
  redis.call('DEL', fields.errors)
  if redis.call('HGET', key, 'state') ~= 'open' then redis.call('HINCRBY', base .. ':slot:' .. fields.slot, 'letters', 1) end
  redis.call('HSET', key, 'id', fields.id, 'slot', fields.slot, 'reason', fields.reason, 'attempts', fields.attempts,
    'worker', fields.worker, 'release', fields.release, 'at', fields.now, 'state', 'open')
  if fields.entity then redis.call('HSET', key, 'entity', fields.entity) end
  if fields.payload then redis.call('HSET', key, 'payload', fields.payload) end
  redis.call('HINCRBY', key, 'lives', 1)
  redis.call('ZADD', base .. ':dead', fields.now, fields.id)
  redis.call('ZADD', base .. ':views', fields.now, fields.id)
  redis.call('ZADD', base .. ':dead:of:' .. fields.slot, fields.now, fields.id)
end

-- A dead letter is open no more: queued again, settled, or given up. `letters` counts a slot's open ones: it keeps its detail.
local function close_letter(base, dead, now)
  local key = base .. ':dead:' .. dead
  if redis.call('HGET', key, 'state') ~= 'open' then return false end
  redis.call('ZREM', base .. ':dead', dead)
  redis.call('ZADD', base .. ':views', now, dead)
  redis.call('HINCRBY', base .. ':slot:' .. redis.call('HGET', key, 'slot'), 'letters', -1)
  return true
end

-- An open dead letter of the run itself is settled by a newer try at the same: that one buries it again if it fails.
local function supersede(base, dead, now)
  if not close_letter(base, dead, now) then return end
  redis.call('HSET', base .. ':dead:' .. dead, 'state', 'resolved', 'resolvedAt', now, 'resolvedBy', 'a newer try')
end
