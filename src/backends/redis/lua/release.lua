-- @script release
-- Releases claims, each on its own, and admits and notifies the next claims. A release has no time limit.
--   KEYS  per handle: lock; in a Cluster, the other keys of all locks follow
--   ARGV  per handle: "<id> <ms for which the key keeps its last token>"
--   ->    per handle (a single one gets its reply without an array): 1 if the claim was there, 0 if not, "! <error>"; 2 is added if
--         this script reached its limit of work, and has left claims to skip or admit. Then the caller should ask again; otherwise
--         the next request for the key continues the work
-- @include lock
-- @include queue
-- @include release
return answer(release, 1)

-- @script evict
-- Releases by force the claim with this token, of any process. If the claim holds, notifies its process. Admits and notifies the
-- next claims. Each call searches one portion of the queue.
--   KEYS  lock; in a Cluster, its other keys follow
--   ARGV  token (16 digits); where to begin: '' at first, then the last reply; ms for which the key keeps its last token
--   ->    what `release` replies, or where the next portion begins
-- @include lock
-- @include queue
-- @include portion
local now = clock()
local value = redis.call('GET', KEYS[1])
local kind = kind_of(value)
if kind == $free then return 0 end

-- At this message the process of the claim checks its hold. A process that does not listen notices the eviction at its next renewal.
local function notify_evicted(id, channel)
  if channel ~= '-' then queue_rule().send(channel, 'evicted ' .. id) end
end

if kind == $sole then
  local token = value:sub($sole.token)
  if token ~= ARGV[1] then return 0 end
  set_free(KEYS[1], token, value:sub($sole.tokenCount), now, ARGV[3])
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
