-- W8: which of these dead letters are open, and have a text in their newest error: asked for by thousands, so answered here.
-- Writes nothing.
--
-- KEYS[1] job key
-- ARGV 1 now or ''  2 a part of the newest error's `name: message`, or the reason of the death; '' fits every one
--      then the ids of the dead letters
-- Answer: for each that fits { place among the ids from 1, slot id, 'entity' or 'run', reason, last death, judged (0, 1) }
--   judged 0: its error cannot be read here, so the caller compares
local base, text = KEYS[1], ARGV[2]

local function fits(key, reason)
  if text == '' or reason == text then return true, 1 end
  local line = redis.call('LINDEX', key .. ':errors', 0)
  if not line then return false, 1 end
  -- A lone half of a character, which JSON has and Lua's decoder refuses.
  local ok, newest = pcall(cjson.decode, line)
  if not ok then return true, 0 end
  return string.find(tostring(newest.name) .. ': ' .. tostring(newest.message), text, 1, true) ~= nil, 1
end

local answer = {}
for index = 3, #ARGV do
  local key = base .. ':dead:' .. ARGV[index]
  local fields = redis.call('HMGET', key, 'state', 'slot', 'entity', 'reason', 'at')
  if fields[1] == 'open' and fields[2] then
    local fit, judged = fits(key, fields[4])
    if fit then
      for _, value in ipairs({ index - 2, fields[2], fields[3] and 'entity' or 'run', fields[4] or '', fields[5] or 0, judged }) do
        answer[#answer + 1] = value
      end
    end
  end
end
return answer
