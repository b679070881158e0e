-- @part standing
-- A claim as a listing has it: <1 held or 0> <token> <expiry> <units> <capacity> <label>; nil where it has expired. Ids and channels
-- stay here. `time` is the including script's.
local function standing(held, record, holds_until)
  local units, capacity, ttl, label = record:match($record[units, capacity, ttl, label])
  local expiry = holds_until or record:sub($record.seen) + ttl * 1000
  if expiry <= time then return nil end
  -- Formatted, the label would end at a zero byte.
  return ('%d %s %.0f %s %s '):format(held, record:sub($record.token), expiry, units, capacity) .. label
end

-- @part portion
-- A portion of a queue, so that no script is long: holders first, those whose lease ends soonest before the others, since a renewal
-- moves one on to where it is still met; then waiters. A place is `h <score> <n>`, where the next portion begins with the
-- nth of the holders of that score, or `w <score>`, behind the waiter of that score.
local PORTION = 500

-- Gives ids and scores in turn, and the place of what follows; nil where nothing does.
local function portion(lock, place)
  local score, skipped = place:match('^h (%S+) (%d+)$')
  local found
  if place == '' or score then
    skipped = tonumber(skipped or 0)
    found = redis.call('ZREVRANGEBYSCORE', lock .. ':queue', score or 0, '-inf', 'WITHSCORES', 'LIMIT', skipped, PORTION)
    if #found < 2 * PORTION then return found, 'w 0' end
    local last = found[#found]
    local same = last == score and skipped or 0
    for i = #found, 2, -2 do
      if found[i] ~= last then break end
      same = same + 1
    end
    return found, ('h %s %d'):format(last, same)
  end
  found = redis.call('ZRANGEBYSCORE', lock .. ':queue', '(' .. place:sub(3), '+inf', 'WITHSCORES', 'LIMIT', 0, PORTION)
  return found, #found == 2 * PORTION and 'w ' .. found[#found] or nil
end

-- @script inspect
-- The holders and waiters of one key, a portion at a time. Reads only.
--   KEYS  lock; of a Cluster, then the others
--   ARGV  where to begin: nothing, or what the last portion named
--   ->    now, where to go on (nothing: that was all), then each living claim (the part `standing`)
-- @include lock
local now = clock()
local time = tonumber(now)
-- @include standing
-- @include portion
local value = redis.call('GET', KEYS[1])
local kind = kind_of(value)
if kind == $sole then return { now, '', standing(1, value:sub($sole.token.at)) } end
if kind ~= $queue then return { now, '' } end
local found, rest = portion(KEYS[1], ARGV[1])
local replies = { now, rest or '' }
for i = 1, #found, 2 do
  local score = tonumber(found[i + 1])
  local record = redis.call('HGET', KEYS[1] .. ':claims', found[i])
  replies[#replies + 1] = record and standing(score < 0 and 1 or 0, record, score < 0 and -score or nil)
end
return replies

-- @script list
-- Which of many keys have a holder. Reads only.
--   KEYS  locks
--   ->    now, then for each that is not free its place in KEYS, from 0, and the claim that is alone there
--         (the part `standing`), nothing where there is a queue, which `inspect` reads, or "! <error>"
-- @include lock
local now = clock()
local time = tonumber(now)
-- @include standing
local replies = { now }

local function look(key)
  local value = redis.pcall('GET', key)
  local kind = kind_of(value)
  if kind == $free then return nil end
  return kind == $queue and '' or standing(1, value:sub($sole.token.at))
end

for i, key in ipairs(KEYS) do
  local found = safely(look, key)
  if found then
    replies[#replies + 1] = i - 1
    replies[#replies + 1] = found
  end
end
return replies
