-- A1: Redis decides what time it is. On a virtual clock (simulation, tests) the caller hands the time in.
local function read_time(given)
  if given ~= '' then return tonumber(given) end
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
