-- A job's `limit`, as its definition in force has it, so that every worker keeps the same one, whatever its image says.
local function limit_of(base)
  local settings = redis.call('HGET', base .. ':job', 'settings')
  -- Most jobs have none: nothing is decoded for them.
  if not settings or not string.find(settings, '"limit":', 1, true) then return nil end
  local read, decoded = pcall(cjson.decode, settings)
  return read and type(decoded) == 'table' and decoded.limit or nil
end

-- Places are leases: a holder says with each of its writes that it lives; whoever takes a dead one's chunk over takes its places.
-- Answers how many this chunk has of those it wants; 0: all are taken.
local function take_places(base, hold, most, now)
  local key, room = base .. ':limit', most
  local places = redis.call('HGETALL', key)
  for index = 1, #places, 2 do
    local width, lease_until = string.match(places[index + 1], '^(%d+):(%d+)$')
    if tonumber(lease_until) <= now then
      redis.call('HDEL', key, places[index])
    elseif places[index] ~= hold.chunk then
      room = room - tonumber(width)
    end
  end
  local width = math.min(hold.want, room)
  if width <= 0 then return 0 end
  redis.call('HSET', key, hold.chunk, width .. ':' .. (now + hold.lease))
  return width
end

-- `place`: width and lease, as chunk-start left them with the chunk; nil where the job has no limit of this kind.
local function renew_places(base, chunk, place, now)
  if not place then return end
  local width, lease = string.match(place, '^(%d+):(%d+)$')
  redis.call('HSET', base .. ':limit', chunk, width .. ':' .. (now + lease))
end

local function free_places(base, chunk, place)
  if place then redis.call('HDEL', base .. ':limit', chunk) end
end

-- The rate is kept by when the next start would be on time (GCRA): evenly spread, with what flows in this time on top at most.
local BURST_MS = 100
-- Starts that are due within this are given out at once, dated: whoever waits longer gives its place on the queue to others.
local LONGEST_WAIT_MS = 200

-- When the next start may be, and how far starts lie apart.
local function rate_standing(base, rate, now)
  local every = rate.perMs / rate.max
  local slack = every * math.max(1, math.floor(BURST_MS / every))
  local due = math.max(now, tonumber(redis.call('HGET', base .. ':job', 'startsAt') or 0))
  return due, every, slack
end

-- How long until a start is free.
local function rate_wait(base, rate, now)
  local due, every, slack = rate_standing(base, rate, now)
  return math.max(0, math.ceil(due + every - slack - now))
end
