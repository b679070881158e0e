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

-- @script attempt
-- KEYS: the lock, our records of its holds, the counter of a fenced lock. ARGV: the last moment, the ttl, the owner, the kind, the beginning of
-- the keys of reads, the label. Without a counter the token is the time of the server in µs.
-- @include layout
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
if kind and not (isRead and kind == 'read') then return {'held', clock, redis.call('PTTL', KEYS[1])} end
local token = KEYS[3] and string.format('%.0f', redis.call('INCR', KEYS[3])) or clock
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
-- KEYS: the lock, our records, the queue of a fair lock. ARGV: the owner, or `-`; the token of the hold, or `-`; the beginning of the keys of
-- reads; the channels of a lock and of a read-write lock; whether this is a Cluster.
-- @include layout
local lock, records, owner, start = KEYS[1], KEYS[2], ARGV[1], ARGV[3]
local function publish(channel, message)
  redis.call('PUBLISH', channel, message)
  -- In a Cluster, Redisson listens by one or the other. A server before Redis 7 does not know this.
  if ARGV[6] == '1' then redis.pcall('SPUBLISH', channel, message) end
end
local kind = kindOf(lock)
if kind ~= 'lock' and kind ~= 'read' and kind ~= 'write' then return 0 end
local field
for _, each in ipairs(redis.call('HKEYS', lock)) do
  local isIt = each == owner or each == owner .. ':write'
  if owner == '-' then isIt = recordOf(records, each) == ARGV[2] end
  if isIt and each ~= 'mode' then field = each end
end
if not field then return 0 end
if kind == 'lock' then
  redis.call('DEL', lock, records)
  publish(ARGV[4], '0')
  local head = redis.pcall('LINDEX', KEYS[3], 0)
  if type(head) == 'string' then publish(ARGV[4] .. ':' .. head, '0') end
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
-- KEYS: of each key the lock and our records. ARGV: of each the beginning of the keys of reads. Gives the time, and for each hold the place of
-- its key among them, the time until it expires, its token, its owner, whether it is ours, its label and whether it is a read.
-- @include layout
local time = redis.call('TIME')
local found = {string.format('%.0f', time[1] * 1000000 + time[2])}
for i = 1, #KEYS / 2 do
  local lock = KEYS[2 * i - 1]
  local kind = kindOf(lock)
  local holds = (kind == 'lock' or kind == 'read' or kind == 'write') and redis.call('HGETALL', lock) or {}
  for n = 1, #holds, 2 do
    local owner = holds[n]
    local token, label = recordOf(KEYS[2 * i], owner)
    local isRead = kind ~= 'lock' and string.sub(owner, -6) ~= ':write'
    local left = isRead and owner ~= 'mode' and readLeft(ARGV[i], owner, holds[n + 1]) or 0
    -- A dead reader of ours is passed over. One of another program keeps writers out until the hash expires.
    if owner ~= 'mode' and (left > 0 or not (isRead and label)) then
      if left <= 0 then left = redis.call('PTTL', lock) end
      found[#found + 1] = {i - 1, left, token, owner, label and 1 or 0, label or '', isRead and 1 or 0}
    end
  end
end
return found
