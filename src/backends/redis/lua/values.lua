-- @part value
-- The value under the key of a lock, and how many holds have begun to make it: one text in a key beside the lock, in the form of
-- src/backends/shared/record.ts. Times are µs.
local function value_of(lock)
  local stored = redis.pcall('GET', lock .. ':value')
  if not stored then return nil end
  if stored.err then error(stored.err, 0) end
  local attempts, begun, mark, counts, token, since, ends, text = stored:match('^1 (%d+) (%d+) (%S+) (%d+) (%d+) (%d+) (%d+) (.*)$')
  if not attempts then error(UNREADABLE, 0) end
  return {
    attempts = tonumber(attempts), begun = begun, mark = mark, counts = tonumber(counts),
    token = token, since = tonumber(since), ends = tonumber(ends), text = text,
  }
end

local function keep_value(lock, value)
  local head = ('1 %d %s %s %.0f %s %.0f %.0f '):format(value.attempts, value.begun, value.mark, value.counts, value.token, value.since, value.ends)
  local vanishes = math.ceil(math.max(value.counts, value.ends) / 1000)
  redis.call('SET', lock .. ':value', head .. value.text, 'PXAT', ('%.0f'):format(vanishes))
end

-- @script ask
-- Attempts a claim. If a value answers it, releases the claim instead.
--   KEYS  lock; in a Cluster, its other keys and the key of the value follow
--   ARGV  what `attempt` takes; what `release` takes; the greatest age of a value, µs; the mark; µs for which the attempt counts,
--         its ttl included; 0: it does not count
--   ->    answered  "=", now, the token of the value, when its age began, when it expires, the value
--         else      the reply of `attempt`; the number of attempts if the claim is granted and counts, else ''; the mark of the
--                   first holder if its hold counts, else '-'
-- @include lock
local now = clock()
local time = tonumber(now)
-- @include queue
-- @include attempt
-- @include release
-- @include value
-- Gives the token of the first holder. The stored mark counts only if this holder has set it. Otherwise the mark is left from an
-- earlier holder, which failed or died.
local function first_of(key)
  local value = redis.call('GET', key)
  if kind_of(value) == $sole then return value:sub($sole.token) end
  local first = redis.call('ZRANGEBYSCORE', key .. ':queue', '-inf', '(0', 'LIMIT', 0, 1)[1]
  local record = first and redis.call('HGET', key .. ':claims', first)
  return record and record:sub($record.token)
end

local ANY_AGE = 1e16

local function ask(key, asked, keep)
  local oldest, mark, counts = tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[6])
  local known = value_of(key)
  local age = known and (known.since < known.ends and time - known.since or 0)
  -- If the clock was set back, the age may be below 0. Then the value answers only a claim that accepts any age.
  if known and known.ends > time and age <= oldest and (age >= 0 or oldest == ANY_AGE) then
    release(key, ARGV[3])
    return { '=', now, known.token, ('%.0f'):format(known.since), ('%.0f'):format(known.ends), known.text }
  end
  local reply = attempt(key, asked, keep)
  local counted = known and known.counts > time
  local token = reply:match('^(%d+) ')
  if not token or token == '0' then
    return { reply, '', counted and known.mark ~= '-' and known.begun == first_of(key) and known.mark or '-' }
  end
  if counts == 0 then return { reply, '', '-' } end
  local attempts = counted and known.attempts or 0
  if not known or known.begun ~= token then
    attempts = attempts + 1
    known = known or { token = '0', since = 0, ends = 0, text = '' }
    known.attempts, known.begun, known.mark, known.counts = attempts, token, mark, time + counts
    keep_value(key, known)
  end
  return { reply, tostring(attempts), mark }
end

local reply = safely(ask, KEYS[1], ARGV[1], ARGV[2])
return type(reply) == 'table' and reply or { reply }

-- @script store
-- Stores a value under the key of a hold, sends the value to the waiting claims, and releases the hold. A claim that does not hold
-- is only released.
--   KEYS  lock; in a Cluster, its other keys and the key of the value follow
--   ARGV  what `release` takes; the value; µs for which it is kept; 1 if the value has no age, else 0
--   ->    what `release` replies, plus 4 if the value was stored
-- @include lock
-- @include queue
-- @include release
-- @include value
local now = clock()
local time = tonumber(now)
-- The most waiting claims that get a message. Each of them leaves the queue or asks, which lets the next ones ask.
local MAX_NOTIFIED = 50
-- The longest value that is part of the message, bytes. Copies of a longer value would delay the server, so each claim asks for a
-- longer value.
local MAX_SENT_BYTES = 4096

-- Gives the token of the claim if it holds, else nil.
local function token_of(key, value, kind, id)
  if kind == $free then return nil end
  if kind == $sole then
    local sole, ttl = value:match($sole[id, ttl])
    return sole == id and value:sub($sole.seen) + ttl * 1000 > time and value:sub($sole.token) or nil
  end
  local score = redis.call('ZSCORE', key .. ':queue', id)
  local record = score and redis.call('HGET', key .. ':claims', id)
  return record and -score > time and record:sub($record.token) or nil
end

-- `since` and `ends` are times, no durations, so that a claim which reads the message late knows the age of the value.
local function notify_all(key, token, since, ends)
  local text = ARGV[2]
  local value = #text <= MAX_SENT_BYTES and ('%s %.0f %.0f '):format(token, since, ends) .. text
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', key .. ':queue', '(0', '+inf', 'LIMIT', 0, MAX_NOTIFIED)) do
    local record = redis.call('HGET', key .. ':claims', id)
    local channel = record and record:match($record[channel])
    if channel and channel ~= '-' then
      queue_rule().send(channel, value and 'value ' .. id .. ' ' .. value or 'ask ' .. id)
    end
  end
end

local function store(key, asked)
  local value = redis.pcall('GET', key)
  local kind = kind_of(value)
  local token = token_of(key, value, kind, asked:match('^%S+'))
  if not token then return release(key, asked) and 0 end
  local ends = time + ARGV[3]
  local since = ARGV[4] == '1' and ends or time
  -- The write comes first: if a server that is short of memory refuses the write, the claim keeps its hold.
  keep_value(key, { attempts = 0, begun = '0', mark = '-', counts = 0, token = token, since = since, ends = ends, text = ARGV[2] })
  -- The messages come before the release: a claim that the release admits waits no longer, and would get no message.
  if kind == $queue then notify_all(key, token, since, ends) end
  return release(key, asked) + 4
end

return safely(store, KEYS[1], ARGV[1])
