-- T12: images registered before an instant that are not in force, are not to be, and have no generation left: name -> true.
local function unused_images(base, before)
  local job = redis.call('HMGET', base .. ':job', 'image', 'target')
  local unused = {}
  for _, image in ipairs(redis.call('ZRANGEBYSCORE', base .. ':images', '-inf', '(' .. before, 'LIMIT', 0, 50)) do
    if image ~= job[1] and image ~= job[2] then unused[image] = true end
  end
  -- Most jobs have none: nothing is decoded for them.
  if next(unused) then
    for _, line in ipairs(redis.call('ZRANGE', base .. ':generations', 0, -1)) do unused[cjson.decode(line).image] = nil end
  end
  return unused
end
