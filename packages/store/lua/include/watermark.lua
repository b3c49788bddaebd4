-- Every slot up to the watermark is recorded. It moves along the caller's ordered list of slots after it, while they are
-- recorded, and never past a due or claimed one of any generation (T1).
local function is_manual(id)
  return string.find(id, '+', 1, true) ~= nil
end

-- A gap is keyed by its last instant and covers (from, to].
local function in_gap(base, at)
  local gap = redis.call('ZRANGEBYSCORE', base .. ':gaps', at, '+inf', 'LIMIT', 0, 1)[1]
  return gap and cjson.decode(gap).from < at
end

local function oldest_open_after(base, at)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', base .. ':open', '(' .. at, '+inf', 'LIMIT', 0, 50)) do
    if not is_manual(id) then return tonumber(redis.call('ZSCORE', base .. ':open', id)) end
  end
  return nil
end

local function set_watermark(base, target, known)
  local current = known or tonumber(redis.call('HGET', base .. ':job', 'watermark'))
  if target <= current then return current end
  local open = oldest_open_after(base, current)
  if open and open <= target then target = open - 1 end
  if target > current then redis.call('HSET', base .. ':job', 'watermark', target) else target = current end
  return target
end

-- list: { { id, at }, ... } ordered, complete from the caller's watermark on. known: the stored watermark, where the script has read it.
local function advance(base, list, known)
  local current = known or tonumber(redis.call('HGET', base .. ':job', 'watermark'))
  local target = current
  for _, slot in ipairs(list) do
    if slot.at > target then
      local state = state_of(base, slot.id)
      if state and PHASES[state] == 'open' then break end
      if not state and not in_gap(base, slot.at) then break end
      target = slot.at
    end
  end
  return set_watermark(base, target, current)
end
