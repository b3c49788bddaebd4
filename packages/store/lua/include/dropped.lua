-- T12: a slot of the schedule that did not run, never began to, and was asked for by nobody: its state and reason; else nil. Such
-- neighbours are one gap. With overlap `queue` each names the one that came after it: that is one reason all the same.
local function read_dropped(base, id)
  if string.find(id, '+', 1, true) then return nil end
  local slot = redis.call('HMGET', base .. ':slot:' .. id, 'state', 'reason', 'startedAt', 'cause')
  if slot[1] ~= 'skipped' and slot[1] ~= 'missed' then return nil end
  if slot[3] or slot[4] == 'manual' or slot[4] == 'backfill' then return nil end
  local reason = string.gsub(slot[2] or '', '^overlap: %S+ is newer and waits in its place$', 'overlap: a newer one waits in its place')
  return slot[1], reason
end
