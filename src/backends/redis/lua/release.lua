-- @script release
-- Gives up holds or places, each on its own, admits those who are next and notifies them. Never too late.
--   KEYS  per handle: lock; of a Cluster, then the others
--   ARGV  per handle: id, and ms for which its last token is remembered, as one: "<id> <ms>"
--   ->    per handle, and of one handle by itself: 1 if there was something to give up, 0 if not, "! <error>"; 3 or 2 where more
--         are to be passed or admitted than one script does: the next request for the key goes on, and the asker should
-- @include lock
-- @include queue
-- @include release
return answer(release, 1)

-- @script evict
-- Forced release of the claim with this token, of any process; admits those who are next and notifies them, and an evicted holder. A
-- portion of the queue at a time.
--   KEYS  lock; of a Cluster, then the others
--   ARGV  token (16 digits); where to begin: nothing, or what the last reply was; ms for which the last token is remembered
--   ->    1 if there was one, 0 if not, 3 where more are to be admitted (see `release`), or where to go on looking for it
-- @include lock
-- @include queue
-- @include portion
local now = clock()
local value = redis.call('GET', KEYS[1])
local kind = kind_of(value)
if kind == $free then return 0 end

-- Its process asks for the hold at once. One that does not listen asks at its next renewal.
local function tell(id, channel)
  if channel ~= '-' then queue_rule().send(channel, 'evicted ' .. id) end
end

if kind == $sole then
  local token = value:sub($sole.token)
  if token ~= ARGV[1] then return 0 end
  set_free(KEYS[1], $free{token, tokenCount = value:sub($sole.tokenCount)}, ARGV[3], token > now)
  tell(value:match($sole[id, channel]))
  return 1
end

local function evicted(id, holds)
  local record = redis.call('HGET', KEYS[1] .. ':claims', id)
  if not record or record:sub($record.token) ~= ARGV[1] then return nil end
  local freed = queue_rule().withdraw(KEYS[1], value, now, ARGV[3], id)
  if holds then tell(record:match($record[id, channel])) end
  return freed
end

-- A waiter stands at its token.
if ARGV[2] == '' then
  local waiter = redis.call('ZRANGEBYSCORE', KEYS[1] .. ':queue', ARGV[1], ARGV[1])[1]
  local found = waiter and evicted(waiter)
  if found then return found end
end
local holders, rest = portion(KEYS[1], ARGV[2])
for i = 1, #holders, 2 do
  local found = evicted(holders[i], true)
  if found then return found end
end
return rest and rest:sub(1, 1) == 'h' and rest or 0
