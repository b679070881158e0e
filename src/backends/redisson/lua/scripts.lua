-- Redisson keeps a hold as a field of the hash at the key: its owner, with a count. A read-write lock has the field `mode`, too, a writer ends
-- with `:write`, and each read has a key whose ttl is its lease. Other programs hold there, so no script changes a field but that of its claim,
-- or that of the hold with the token it is told. What only we keep, the token and the label of each hold, is in a hash beside it.

-- @part layout
-- Tells how a key is held: `lock`, `read`, `write`; or what else is there; nil for nothing.
local function kindOf(key)
  local stored = redis.call('TYPE', key).ok
  if stored == 'none' then return nil end
  if stored ~= 'hash' then return stored end
  local mode = redis.call('HGET', key, 'mode')
  if mode == 'read' or mode == 'write' then return mode end
  if redis.call('HLEN', key) ~= 1 then return stored end
  local held = redis.call('HGETALL', key)
  if string.match(held[1], ':%d+$') and string.match(held[2], '^%d+$') then return 'lock' end
  return stored
end

-- Reads the token and the label of a hold of ours; of another program a number that stands for its token.
local function recordOf(records, field)
  local token, label = string.match(redis.call('HGET', records, field) or '', '^(%d+) (.*)$')
  if token then return token, label end
  return string.format('%.0f', tonumber(string.sub(redis.sha1hex(field), 1, 12), 16)), nil
end

local function lengthen(key, ttl)
  if redis.call('PTTL', key) < tonumber(ttl) then redis.call('PEXPIRE', key, ttl) end
end

local function timeoutOf(start, owner, n)
  return start .. owner .. ':rwlock_timeout:' .. n
end

-- Gives the time until the last of an owner's reads expires, or a number below 1.
local function readLeft(start, owner, count)
  local longest = 0
  for n = 1, tonumber(count) or 1 do
    longest = math.max(longest, redis.call('PTTL', timeoutOf(start, owner, n)))
  end
  return longest
end

-- @part queue
-- A fair lock has a list of owners that wait, and beside it the end of each place in it, in ms of a client's clock. Every caller removes the
-- heads whose time is over. A place is behind those before it and so has their times, too: what a claim adds, it takes back when it leaves.

-- Gives the owner at the head, and the ms that are left of its place. One that has no end would stay for ever.
local function headOf(queue, ends, now)
  while true do
    local head = redis.pcall('LINDEX', queue, 0)
    if type(head) ~= 'string' then return nil end
    local left = (tonumber(redis.call('ZSCORE', ends, head) or 0)) - now
    if left > 0 then return head, math.ceil(left) end
    redis.call('LPOP', queue)
    redis.call('ZREM', ends, head)
  end
end

-- Removes a claim of ours from the queue, and gives whether it was there.
local function leave(queue, ends, owner, place)
  local lasts = tonumber(string.match(redis.call('GET', place) or '', '^%d+'))
  local isBehind = false
  for _, each in ipairs(redis.call('LRANGE', queue, 0, -1)) do
    if isBehind and lasts and redis.call('ZSCORE', ends, each) then redis.call('ZINCRBY', ends, -lasts, each) end
    isBehind = isBehind or each == owner
  end
  redis.call('LREM', queue, 0, owner)
  redis.call('DEL', place)
  return redis.call('ZREM', ends, owner) == 1 or lasts ~= nil
end

-- Gives a claim its place at the end of the queue, or keeps the one that it has for `lasts` ms. The key of the place expires by the clock of the
-- server: while it exists, only a client whose clock is ahead can have removed the claim, which was the head, and it becomes the head again.
local function join(queue, ends, owner, place, lasts, label, now)
  if not redis.call('ZSCORE', ends, owner) then
    redis.call('LREM', queue, 0, owner)
    redis.call(redis.call('EXISTS', place) == 1 and 'LPUSH' or 'RPUSH', queue, owner)
  end
  local before = now
  for _, each in ipairs(redis.call('LRANGE', queue, 0, -1)) do
    if each == owner then break end
    before = math.max(before, tonumber(redis.call('ZSCORE', ends, each) or 0))
  end
  redis.call('ZADD', ends, string.format('%.0f', before + lasts), owner)
  redis.call('SET', place, lasts .. ' ' .. label, 'PX', lasts)
end

-- @script attempt
-- KEYS: the lock, our records of its holds, the counter of a fenced lock, or the queue of a fair one and the ends of its places. ARGV: the last
-- moment, the ttl, the owner, the kind, the beginning of the keys of reads, the label, the ms that a place lasts without an attempt, or 0 for a
-- claim that does not queue. Without a counter the token is the time of the server in µs.
-- @include layout
-- @include queue
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local clock = string.format('%.0f', now)
if now > tonumber(ARGV[1]) then return {'late', clock} end
local ttl, wanted = ARGV[2], ARGV[4]
local field = wanted == 'write' and ARGV[3] .. ':write' or ARGV[3]
local timeout = timeoutOf(ARGV[5], field, 1)
local kind = kindOf(KEYS[1])
if kind and kind ~= wanted and (wanted == 'lock' or (kind ~= 'read' and kind ~= 'write')) then
  return {'kind', clock, kind}
end
local isRead = wanted == 'read'
if kind and redis.call('HEXISTS', KEYS[1], field) == 1 and (not isRead or redis.call('EXISTS', timeout) == 1) then
  -- This is the same claim again. Its expiry never moves backwards.
  lengthen(KEYS[1], ttl)
  lengthen(KEYS[2], ttl)
  if isRead then lengthen(timeout, ttl) end
  local token = recordOf(KEYS[2], field)
  return {token, clock}
end
local left = kind and redis.call('PTTL', KEYS[1])
local isFree = not kind or isRead and kind == 'read'
local queue, ends = KEYS[3], KEYS[4]
if ends then
  local ms, place, lasts = now / 1000, KEYS[2] .. ':' .. field, tonumber(ARGV[7])
  local head, headLeft = headOf(queue, ends, ms)
  if lasts > 0 and (head or not isFree) then
    join(queue, ends, field, place, lasts, ARGV[6], ms)
    head, headLeft = headOf(queue, ends, ms)
  end
  if isFree and head == field then leave(queue, ends, field, place) end
  isFree = isFree and (not head or head == field)
  left = left or headLeft
end
if not isFree then return {'held', clock, left} end
local token = KEYS[3] and not ends and string.format('%.0f', redis.call('INCR', KEYS[3])) or clock
if not kind then
  redis.call('DEL', KEYS[2])
  if wanted ~= 'lock' then redis.call('HSET', KEYS[1], 'mode', wanted) end
end
redis.call('HSET', KEYS[1], field, 1)
redis.call('HSET', KEYS[2], field, token .. ' ' .. ARGV[6])
lengthen(KEYS[1], ttl)
lengthen(KEYS[2], ttl)
-- Without this key the next reader that leaves would delete the hold.
if isRead then redis.call('SET', timeout, 1, 'PX', ttl) end
return {token, clock}

-- @script renew
-- KEYS: of each hold the lock and our records. ARGV: of each the owner, the ttl and the beginning of the keys of reads. Gives 1 for each that
-- its owner still has.
-- @include layout
local answers = {}
for i = 1, #KEYS / 2 do
  local lock, owner, ttl = KEYS[2 * i - 1], ARGV[3 * i - 2], ARGV[3 * i - 1]
  local kind = kindOf(lock)
  local renewed = 0
  if kind == 'lock' and redis.call('HEXISTS', lock, owner) == 1
    or kind == 'write' and redis.call('HEXISTS', lock, owner .. ':write') == 1 then
    renewed = redis.call('PEXPIRE', lock, ttl)
  elseif kind == 'read' and redis.call('HEXISTS', lock, owner) == 1 then
    renewed = redis.call('PEXPIRE', timeoutOf(ARGV[3 * i], owner, 1), ttl)
    if renewed == 1 then lengthen(lock, ttl) end
  end
  if renewed == 1 then lengthen(KEYS[2 * i], ttl) end
  answers[i] = renewed
end
return answers

-- @script release
-- KEYS: the lock, our records, the queue of a fair lock and the ends of its places. ARGV: the owner, or `-`; the token of the hold, or `-`; the
-- beginning of the keys of reads; the channels of a lock and of a read-write lock; whether this is a Cluster; whether claims of ours queue.
-- @include layout
-- @include queue
local lock, records, owner, start = KEYS[1], KEYS[2], ARGV[1], ARGV[3]
local function publish(channel, message)
  redis.call('PUBLISH', channel, message)
  -- In a Cluster, Redisson listens by one or the other. A server before Redis 7 does not know this.
  if ARGV[6] == '1' then redis.pcall('SPUBLISH', channel, message) end
end
local function tellHead()
  local time = redis.call('TIME')
  local head = headOf(KEYS[3], KEYS[4], time[1] * 1000 + time[2] / 1000)
  if head then publish(ARGV[4] .. ':' .. head, '0') end
end
local kind = kindOf(lock)
local hasLeft = owner ~= '-' and ARGV[7] == '1' and leave(KEYS[3], KEYS[4], owner, records .. ':' .. owner)
if hasLeft and not kind then tellHead() end
if kind ~= 'lock' and kind ~= 'read' and kind ~= 'write' then return hasLeft and 1 or 0 end
local field
for _, each in ipairs(redis.call('HKEYS', lock)) do
  local isIt = each == owner or each == owner .. ':write'
  if owner == '-' then isIt = recordOf(records, each) == ARGV[2] end
  if isIt and each ~= 'mode' then field = each end
end
if not field then return hasLeft and 1 or 0 end
if kind == 'lock' then
  redis.call('DEL', lock, records)
  publish(ARGV[4], '0')
  tellHead()
  return 1
end
local isWriter = string.sub(field, -6) == ':write'
local freed = isWriter and 1 or 0
local count = tonumber(redis.call('HGET', lock, field)) or 1
redis.call('HDEL', lock, field)
redis.call('HDEL', records, field)
-- A read whose key has gone had expired.
for n = 1, isWriter and 0 or count do freed = math.max(freed, redis.call('DEL', timeoutOf(start, field, n))) end
local longest, left = 0, redis.call('HGETALL', lock)
for i = 1, #left, 2 do
  if left[i] ~= 'mode' then longest = math.max(longest, readLeft(start, left[i], left[i + 1])) end
end
if #left > 2 and isWriter then
  -- The writer has reads of its own. Its thread goes on as a reader, and others may enter.
  redis.call('HSET', lock, 'mode', 'read')
  publish(ARGV[5], '1')
elseif #left > 2 and (longest > 0 or kind == 'write') then
  if kind == 'read' then redis.call('PEXPIRE', lock, longest) end
else
  redis.call('DEL', lock, records)
  publish(ARGV[5], isWriter and '1' or '0')
end
return freed

-- @script inspect
-- KEYS: of each key the lock, our records, the queue of a fair lock and the ends of its places. ARGV: of each the beginning of the keys of reads.
-- Gives the time, and for each hold and each place in the queue the place of its key among them, the time until it expires, its token, its
-- owner, whether it is ours, its label, and `read`, `wait` or nothing.
-- @include layout
local time = redis.call('TIME')
local found = {string.format('%.0f', time[1] * 1000000 + time[2])}
for i = 1, #KEYS / 4 do
  local lock, records, queue, ends = unpack(KEYS, 4 * i - 3, 4 * i)
  local kind = kindOf(lock)
  local holds = (kind == 'lock' or kind == 'read' or kind == 'write') and redis.call('HGETALL', lock) or {}
  for n = 1, #holds, 2 do
    local owner = holds[n]
    local token, label = recordOf(records, owner)
    local isRead = kind ~= 'lock' and string.sub(owner, -6) ~= ':write'
    local left = isRead and owner ~= 'mode' and readLeft(ARGV[i], owner, holds[n + 1]) or 0
    -- A dead reader of ours is passed over. One of another program keeps writers out until the hash expires.
    if owner ~= 'mode' and (left > 0 or not (isRead and label)) then
      if left <= 0 then left = redis.call('PTTL', lock) end
      found[#found + 1] = {i - 1, left, token, owner, label and 1 or 0, label or '', isRead and 'read' or ''}
    end
  end
  for _, owner in ipairs(redis.call('LRANGE', queue, 0, -1)) do
    local label = string.match(redis.call('GET', records .. ':' .. owner) or '', '^%d+ (.*)$')
    local left = (tonumber(redis.call('ZSCORE', ends, owner) or 0)) - time[1] * 1000
    local token = recordOf(records, owner)
    if left > 0 then found[#found + 1] = {i - 1, math.ceil(left), token, owner, label and 1 or 0, label or '', 'wait'} end
  end
end
return found
