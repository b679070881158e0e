-- @script release
-- Releases claims, each on its own, and admits and notifies the next claims. A release is never too late.
--   KEYS  per handle: lock; of a Cluster, then the others
--   ARGV  per handle: id, and ms for which its last token is remembered, as one: "<id> <ms>"
--   ->    per handle, and of one handle by itself: 1 if the claim was there, 0 if not, "! <error>"; 2 more if one script cannot skip or
--         admit so many claims: the caller should ask again, and else the next request for the key goes on
-- @include lock
-- @include queue
-- @include release
return answer(release, 1)

-- @script evict
-- Releases the claim with this token, of any process, by force. Notifies it if it holds, and admits and notifies the next claims. Looks
-- for the claim in one portion of the queue at a time.
--   KEYS  lock; of a Cluster, then the others
--   ARGV  token (16 digits); where to begin: nothing, or what the last reply was; ms for which the last token is remembered
--   ->    1 if the claim was there, 0 if not, 3 if there are more claims to admit (see `release`), or where the next portion begins
-- @include lock
-- @include queue
-- @include portion
local now = clock()
local value = redis.call('GET', KEYS[1])
local kind = kind_of(value)
if kind == $free then return 0 end

-- The process of the claim then asks for its hold at once. A process that does not listen asks at its next renewal.
local function notify_evicted(id, channel)
  if channel ~= '-' then queue_rule().send(channel, 'evicted ' .. id) end
end

if kind == $sole then
  local token = value:sub($sole.token)
  if token ~= ARGV[1] then return 0 end
  set_free(KEYS[1], $free{token, tokenCount = value:sub($sole.tokenCount)}, ARGV[3], token > now)
  notify_evicted(value:match($sole[id, channel]))
  return 1
end

local function evicted(id, holds)
  local record = redis.call('HGET', KEYS[1] .. ':claims', id)
  if not record or record:sub($record.token) ~= ARGV[1] then return nil end
  local freed = queue_rule().withdraw(KEYS[1], value, now, ARGV[3], id)
  if holds then notify_evicted(record:match($record[id, channel])) end
  return freed
end

-- The score of a waiter is its token.
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
