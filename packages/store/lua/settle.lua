-- W7 Settle: every ending of an entity goes through here. One script checks the fence, writes the outcomes, their dead letters
-- and the sums together, closes the chunk with its last entity, and the run with its last chunk.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 slot id  3 chunk number  4 fence  5 worker  6 release
--      7 done: indexes or stretches of them, as 0-41,43  8 started: indexes, comma-separated (W5: a durable mark before the handler);
--      of a hand-back, those that lose their mark, for they were stopped and took nobody down
--      9 'alone' when the started one runs alone after a crash (W6)  10 hand back (0, 1)
--      then of each failure: index, verdict (retry, later, dead, abandoned), attempts, next attempt at, error JSON, reason,
--      dead letter id, entity key, payload JSON
-- Answer: { status, now, entities left, outcome state or '', outcome version or 0, plan step to add or 0 }
--   status  open | closed | fenced | gone (closed before)
-- include: time, transition, fence, dead-letter, run, limit
local base, id, number = KEYS[1], ARGV[2], ARGV[3]
local now = read_time(ARGV[1])
local chunk = chunk_key(base, id, number)
local standing = chunk_standing(base, id, number, ARGV[4])
if standing ~= 'held' then return { standing == 'closed' and 'gone' or 'fenced', now, 0, '', 0, 0 } end

local slot = base .. ':slot:' .. id
local fields = redis.call('HMGET', chunk, 'states', 'left', 'redriven', 'retried', 'place')
local states, left = {}, tonumber(fields[2])
-- Most chunks end at once, every entity done at its first attempt: nothing is to be looked up one by one.
local size = #fields[1]
local at_once = ARGV[7] == '0-' .. (size - 1) and #ARGV == 10 and fields[1] == string.rep('.', size)
  and not fields[3] and not fields[4]
if not at_once then
  for character in string.gmatch(fields[1], '.') do states[#states + 1] = character end
end
local redriven = fields[3] and cjson.decode(fields[3]) or nil

local function final(index)
  local state = states[index + 1]
  return state == 'd' or state == 'x' or state == 'a'
end

local done = 0
local function finish_member(index)
  if final(index) then return end
  states[index + 1] = 'd'
  done = done + 1
  if fields[4] then redis.call('DEL', base .. ':errors:' .. id .. ':' .. number .. ':' .. index) end
  if redriven then
    local dead = redriven[index + 1]
    redis.call('HSET', base .. ':dead:' .. dead, 'state', 'resolved', 'resolvedAt', now)
  end
end
if at_once then
  done = size
else
  for first, last in string.gmatch(ARGV[7], '(%d+)%-?(%d*)') do
    for index = tonumber(first), tonumber(last) or tonumber(first) do finish_member(index) end
  end
end
if done > 0 then redis.call('HINCRBY', slot, 'done', done) end
left = left - done

-- R3: receipts of entities that finish fold with their chunk; those of dead ones stay, for the redrive. Read once, however many die.
local buried = {}
local function keep_receipts()
  if next(buried) == nil then return end
  local receipts = redis.call('HGETALL', base .. ':receipts:' .. id .. ':' .. number)
  for index = 1, #receipts, 2 do
    local entity = string.match(receipts[index], '^(.*)\n[^\n]*$')
    if buried[entity] then redis.call('HSET', base .. ':kept:' .. id, receipts[index], receipts[index + 1]) end
  end
end

local index = 11
while index <= #ARGV do
  local member, verdict = tonumber(ARGV[index]), ARGV[index + 1]
  -- A retry that is written already was sent again by a connection that lost the answer.
  local written = redis.call('HMGET', chunk, 't' .. member, 'a' .. member)
  local again = verdict == 'retry' or verdict == 'later'
  local repeated = again and written[1] == ARGV[index + 3] and written[2] == ARGV[index + 2]
  if not final(member) and not repeated then
    local errors = base .. ':errors:' .. id .. ':' .. number .. ':' .. member
    if ARGV[index + 4] ~= '' then keep_error(errors, ARGV[index + 4]) end
    redis.call('HSET', chunk, 'a' .. member, ARGV[index + 2])
    if again then
      -- W4: a start is counted, so that no two have one number, and uses up no attempt.
      if verdict == 'later' then redis.call('HINCRBY', chunk, 'b' .. member, 1) end
      states[member + 1] = 'r'
      redis.call('HSET', chunk, 't' .. member, ARGV[index + 3], 'retried', 1)
      redis.call('HINCRBY', slot, 'retries', 1)
    else
      states[member + 1] = verdict == 'dead' and 'x' or 'a'
      left = left - 1
      redis.call('HINCRBY', slot, verdict, 1)
      bury(base, { id = ARGV[index + 6], slot = id, entity = ARGV[index + 7], reason = ARGV[index + 5],
        payload = ARGV[index + 8], errors = errors, attempts = tonumber(ARGV[index + 2]), worker = ARGV[5],
        release = ARGV[6], now = now })
      buried[ARGV[index + 7]] = true
    end
  end
  index = index + 9
end

keep_receipts()
if left > 0 then
  for text in string.gmatch(ARGV[8], '%d+') do
    if not final(tonumber(text)) then states[tonumber(text) + 1] = ARGV[10] == '1' and 'r' or 's' end
    redis.call('HSET', chunk, 'alone', ARGV[9] == 'alone' and text or '')
  end
  if ARGV[8] == '' then redis.call('HSET', chunk, 'alone', '') end
  redis.call('HSET', chunk, 'states', table.concat(states), 'left', left)
  if ARGV[10] == '1' then
    redis.call('HSET', chunk, 'holder', '')
    free_places(base, id .. ':' .. number, fields[5])
  else
    renew_places(base, id .. ':' .. number, fields[5], now)
  end
  redis.call('ZADD', base .. ':chunks:' .. id, now, number)
  return { 'open', now, left, '', 0, 0 }
end

redis.call('DEL', chunk, base .. ':receipts:' .. id .. ':' .. number)
redis.call('ZREM', base .. ':chunks:' .. id, number)
free_places(base, id .. ':' .. number, fields[5])
redis.call('HINCRBY', plan_key(base, id), 'closed', 1)
local state, version = end_if_closed(base, id, now)
local step = 0
if not state then step = next_step(base, id) end
return { 'closed', now, 0, state or '', version or 0, step }
