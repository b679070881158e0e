-- Gives up holds or places, each on its own, and admits whoever is next and tells them. Never too late.
--   KEYS  per handle: lock; of a Cluster, then the others
--   ARGV  per handle: id, and ms for which its last ticket is remembered, as one: "<id> <ms>"
--   ->    per handle, and of one handle by itself: 1 if there was something to give up, 0 if not, "! <error>"; 3 or 2 where more
--         are to be passed or admitted than one script does: whoever asks for the key next goes on, and the asker should
local TIME
local replies, count, done = nil, #ARGV, 0
-- The quick ways, before the rest is defined: it is alone, or holds all and is followed by one who will.
for i = 1, count do
  local asked = ARGV[i]
  local value, at = redis.pcall('GET', KEYS[i]), asked:find(' ', 1, true)
  if not value or value.err or value:sub(47, 46 + at) ~= asked:sub(1, at) then break end
  local kind = value:sub(1, 7)
  if kind == '1 sole ' then
    -- A ticket ahead of its last sign of life may be ahead of the clock: the general way looks.
    if value:sub(8, 23) > value:sub(30, 45) then break end
    if redis.pcall('SET', KEYS[i], '1 free ' .. value:sub(8, 28), 'PX', asked:sub(at + 1)).err then break end
  else
    if kind ~= '1 held ' then break end
-- @include publish
-- @include handover
    TIME = TIME or redis.call('TIME')
    local readable, handed = pcall(hand_over, KEYS[i], value, TIME[1] .. ('0'):rep(6 - #TIME[2]) .. TIME[2], asked:sub(at + 1))
    if not readable or not handed then break end
  end
  if count == 1 then return 1 end
  replies = replies or {}
  replies[i], done = 1, i
end
if done == count then return replies end
TIME = TIME or redis.call('TIME')
replies = replies or {}
-- @include alone
-- @include publish
-- @include line
-- @include release
for i = done + 1, count do
  replies[i] = safely(release, KEYS[i], ARGV[i], redis.pcall('GET', KEYS[i]))
  if type(replies[i]) == 'table' then return replies[i] end
end
return count == 1 and replies[1] or replies
