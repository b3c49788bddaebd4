-- T10 Pause and resume. A pause stops starts, never a running run; nothing is cut until the resume, which a trigger performs.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 what (pause, resume)  3 by  4 note or ''  5 until, epoch ms, or 0  6 what becomes of slots missed
--      meanwhile: skip | catch-up | '' (as the pause said)  7 of a resume, the instant of the pause that was seen, or ''
-- Answer: { status, now }   status  paused | resuming | already | other (another pause than was seen) | unknown
-- include: time
local base = KEYS[1]
local now = read_time(ARGV[1])
local job = base .. ':job'
if redis.call('EXISTS', job) == 0 then return { 'unknown', now } end
local paused = redis.call('HGET', job, 'paused')
local function journal(event)
  redis.call('RPUSH', base .. ':journal', cjson.encode({ at = now, event = event, by = ARGV[3], note = ARGV[4] }))
  redis.call('LTRIM', base .. ':journal', -1000, -1)
end
if ARGV[2] == 'resume' then
  if paused ~= '1' then return { 'already', now } end
  -- Somebody resumed it meanwhile, and somebody paused it anew for a reason of their own.
  local seen = tonumber(ARGV[7] or '')
  if seen and seen ~= tonumber(redis.call('HGET', job, 'pausedAt')) then return { 'other', now } end
  if ARGV[6] ~= '' then redis.call('HSET', job, 'pauseMissed', ARGV[6]) end
  redis.call('HSET', job, 'paused', 'resuming')
  journal('resumed')
  return { 'resuming', now }
end
if paused then return { 'already', now } end
redis.call('HSET', job, 'paused', '1', 'pausedAt', now, 'pausedBy', ARGV[3], 'pauseNote', ARGV[4], 'pausedUntil', ARGV[5],
  'pauseMissed', ARGV[6] == '' and 'skip' or ARGV[6])
journal('paused')
return { 'paused', now }
