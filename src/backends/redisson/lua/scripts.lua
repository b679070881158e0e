-- Redisson keeps a hold as a field of the hash at the key: the owner, with a count. A read-write lock also has the field `mode`. The field of a
-- writer ends with `:write`, and each read has a key whose ttl is its lease. Other programs have fields in the hash, too. So a script changes only
-- the field of its claim, or of the hold with the given token. Our tokens and labels are in a hash of records beside the lock.

-- @part layout
-- Gives how a key is held: `lock`, `read` or `write`; the type of any other value; nil if there is none.
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

-- Reads the token and the label of a hold of ours. For a hold of another program, gives a number that serves as its token.
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

-- Gives the ms until the last of an owner's reads expires; 0 if none is left.
local function remainingOfRead(start, owner, count)
  local maxRemaining = 0
  for n = 1, tonumber(count) or 1 do
    maxRemaining = math.max(maxRemaining, redis.call('PTTL', timeoutOf(start, owner, n)))
  end
  return maxRemaining
end

-- @part queue
-- A fair lock has a list of owners that wait, and a sorted set with the time at which the wait of each expires, in ms of a client's clock. Every
-- caller removes the head if its time is over. The time of an owner includes the waits of all owners before it. So when a claim leaves the queue,
-- its wait is subtracted from the times of all owners behind it.

-- Gives the owner at the head, and the ms until its wait expires. Removes heads whose time is over or missing: one without a time would never go.
local function headOf(queue, ends, now)
  while true do
    local head = redis.pcall('LINDEX', queue, 0)
    if type(head) ~= 'string' then return nil end
    local remaining = (tonumber(redis.call('ZSCORE', ends, head) or 0)) - now
    if remaining > 0 then return head, math.ceil(remaining) end
    redis.call('LPOP', queue)
    redis.call('ZREM', ends, head)
  end
end

-- Removes a claim of ours from the queue, and gives whether it was there.
local function leave(queue, ends, owner, entry)
  local lasts = tonumber(string.match(redis.call('GET', entry) or '', '^%d+'))
  local isBehind = false
  for _, each in ipairs(redis.call('LRANGE', queue, 0, -1)) do
    if isBehind and lasts and redis.call('ZSCORE', ends, each) then redis.call('ZINCRBY', ends, -lasts, each) end
    isBehind = isBehind or each == owner
  end
  redis.call('LREM', queue, 0, owner)
  redis.call('DEL', entry)
  return redis.call('ZREM', ends, owner) == 1 or lasts ~= nil
end

-- Puts a claim at the end of the queue for `lasts` ms, or keeps it where it is. The key `entry` expires by the clock of the server. If this key is
-- there but the claim is not in the queue, a client whose clock is ahead has removed the claim from the head. So the claim becomes the head again.
local function join(queue, ends, owner, entry, lasts, label, now)
  if not redis.call('ZSCORE', ends, owner) then
    redis.call('LREM', queue, 0, owner)
    redis.call(redis.call('EXISTS', entry) == 1 and 'LPUSH' or 'RPUSH', queue, owner)
  end
  local before = now
  for _, each in ipairs(redis.call('LRANGE', queue, 0, -1)) do
    if each == owner then break end
    before = math.max(before, tonumber(redis.call('ZSCORE', ends, each) or 0))
  end
  redis.call('ZADD', ends, string.format('%.0f', before + lasts), owner)
  redis.call('SET', entry, lasts .. ' ' .. label, 'PX', lasts)
end

-- @script attempt
-- KEYS: the lock; our records of its holds; then the counter of a fenced lock, or the queue and the times of a fair lock. ARGV: the last moment for a
-- grant, µs; the ttl, ms; the owner; the kind; the beginning of the keys of reads; the label; the ms for which an entry of the queue lasts without an
-- attempt, or 0 if the claim does not queue. Without a counter the token is the time of the server, µs.
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
local remaining = kind and redis.call('PTTL', KEYS[1])
local isFree = not kind or isRead and kind == 'read'
local queue, ends = KEYS[3], KEYS[4]
if ends then
  local ms, entry, lasts = now / 1000, KEYS[2] .. ':' .. field, tonumber(ARGV[7])
  local head, headRemaining = headOf(queue, ends, ms)
  if lasts > 0 and (head or not isFree) then
    join(queue, ends, field, entry, lasts, ARGV[6], ms)
    head, headRemaining = headOf(queue, ends, ms)
  end
  if isFree and head == field then leave(queue, ends, field, entry) end
  isFree = isFree and (not head or head == field)
  remaining = remaining or headRemaining
end
if not isFree then return {'held', clock, remaining} end
local token = KEYS[3] and not ends and string.format('%.0f', redis.call('INCR', KEYS[3])) or clock
if not kind then
  redis.call('DEL', KEYS[2])
  if wanted ~= 'lock' then redis.call('HSET', KEYS[1], 'mode', wanted) end
end
redis.call('HSET', KEYS[1], field, 1)
redis.call('HSET', KEYS[2], field, token .. ' ' .. ARGV[6])
lengthen(KEYS[1], ttl)
lengthen(KEYS[2], ttl)
-- Without this key, the next release of another reader would delete this hold.
if isRead then redis.call('SET', timeout, 1, 'PX', ttl) end
return {token, clock}

-- @script renew
-- KEYS: for each hold the lock and our records. ARGV: for each hold the owner, the ttl, ms, and the beginning of the keys of reads. Gives for each
-- hold 1 if its owner still has it, else 0.
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
-- KEYS: the lock; our records; the queue of a fair lock; its times. ARGV: the owner, or `-`; the token of the hold, or `-`; the beginning of the keys
-- of reads; the channel of a lock; the channel of a read-write lock; 1 in a Cluster; 1 for a fair lock. Gives 1 if the claim was there, else 0.
-- @include layout
-- @include queue
local lock, records, owner, start = KEYS[1], KEYS[2], ARGV[1], ARGV[3]
local function publish(channel, message)
  redis.call('PUBLISH', channel, message)
  -- In a Cluster, Redisson listens by SUBSCRIBE or by SSUBSCRIBE. A server before Redis 7 does not know SPUBLISH.
  if ARGV[6] == '1' then redis.pcall('SPUBLISH', channel, message) end
end
local function notifyHead()
  local time = redis.call('TIME')
  local head = headOf(KEYS[3], KEYS[4], time[1] * 1000 + time[2] / 1000)
  if head then publish(ARGV[4] .. ':' .. head, '0') end
end
local kind = kindOf(lock)
local hasLeft = owner ~= '-' and ARGV[7] == '1' and leave(KEYS[3], KEYS[4], owner, records .. ':' .. owner)
if hasLeft and not kind then notifyHead() end
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
  notifyHead()
  return 1
end
local isWriter = string.sub(field, -6) == ':write'
local freed = isWriter and 1 or 0
local count = tonumber(redis.call('HGET', lock, field)) or 1
redis.call('HDEL', lock, field)
redis.call('HDEL', records, field)
-- If the key of a read is gone, the read had expired, and nothing was freed.
for n = 1, isWriter and 0 or count do freed = math.max(freed, redis.call('DEL', timeoutOf(start, field, n))) end
local maxRemaining, rest = 0, redis.call('HGETALL', lock)
for i = 1, #rest, 2 do
  if rest[i] ~= 'mode' then maxRemaining = math.max(maxRemaining, remainingOfRead(start, rest[i], rest[i + 1])) end
end
if #rest > 2 and isWriter then
  -- The other fields are reads of the writer's own thread. That thread goes on as a reader, and other readers may enter.
  redis.call('HSET', lock, 'mode', 'read')
  publish(ARGV[5], '1')
elseif #rest > 2 and (maxRemaining > 0 or kind == 'write') then
  if kind == 'read' then redis.call('PEXPIRE', lock, maxRemaining) end
else
  redis.call('DEL', lock, records)
  publish(ARGV[5], isWriter and '1' or '0')
end
return freed

-- @script inspect
-- KEYS: for each lock its key, our records, the queue of a fair lock and its times. ARGV: for each the beginning of the keys of reads. Gives the
-- time, µs, and for each hold and each waiter: the index of its lock, from 0; the ms until it expires; its token; its owner; 1 if it is ours, else 0;
-- its label; `read`, `wait` or nothing.
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
    local remaining = isRead and owner ~= 'mode' and remainingOfRead(ARGV[i], owner, holds[n + 1]) or 0
    -- A dead reader of ours is not listed. A dead reader of another program is listed, since it keeps writers out until the hash expires.
    if owner ~= 'mode' and (remaining > 0 or not (isRead and label)) then
      if remaining <= 0 then remaining = redis.call('PTTL', lock) end
      found[#found + 1] = {i - 1, remaining, token, owner, label and 1 or 0, label or '', isRead and 'read' or ''}
    end
  end
  for _, owner in ipairs(redis.call('LRANGE', queue, 0, -1)) do
    local label = string.match(redis.call('GET', records .. ':' .. owner) or '', '^%d+ (.*)$')
    local remaining = (tonumber(redis.call('ZSCORE', ends, owner) or 0)) - time[1] * 1000
    local token = recordOf(records, owner)
    if remaining > 0 then found[#found + 1] = {i - 1, math.ceil(remaining), token, owner, label and 1 or 0, label or '', 'wait'} end
  end
end
return found
