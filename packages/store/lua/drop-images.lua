-- T12 Forgets images that are older than history, that nobody carries, and that nothing which is kept was fired by.
--
-- KEYS[1] job key
-- ARGV 1 now or '' (unused)  2 instant before which they were registered  then their names
-- Answer: how many
-- include: images
local base, dropped = KEYS[1], 0
local unused = unused_images(base, tonumber(ARGV[2]))
for index = 3, #ARGV do
  if unused[ARGV[index]] then
    redis.call('ZREM', base .. ':images', ARGV[index])
    redis.call('DEL', base .. ':image:' .. ARGV[index])
    dropped = dropped + 1
  end
end
return dropped
