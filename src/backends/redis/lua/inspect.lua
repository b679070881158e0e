-- @part entry
-- Gives a claim for a listing: <1 if it holds, else 0> <token> <expiry> <units> <capacity> <label>; nil if it has expired. Ids and
-- channels are not shown. The script that includes this part defines `time`.
local function entry(held, record, holds_until)
  local units, capacity, ttl, label = record:match($record[units, capacity, ttl, label])
  local expiry = holds_until or record:sub($record.seen) + ttl * 1000
  if expiry <= time then return nil end
  -- `format` would end the label at a zero byte, so the label is appended.
  return ('%d %s %.0f %s %s '):format(held, record:sub($record.token), expiry, units, capacity) .. label
end

-- @part portion
-- Reads a portion of a queue, so that no script is long: first the holders, the earliest expiry first, then the waiters. A renewal
-- moves a holder to a later expiry, so no holder is missed. A cursor says where the next portion begins: `h <score> <n>`, after the
-- first n holders with that score, or `w <score>`, after the waiter with that score.
local PORTION = 500

-- Gives a list of ids, each followed by its score, and the cursor of the next portion; nil if there is none.
local function portion(lock, cursor)
  local score, skipped = cursor:match('^h (%S+) (%d+)$')
  local found
  if cursor == '' or score then
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
  found = redis.call('ZRANGEBYSCORE', lock .. ':queue', '(' .. cursor:sub(3), '+inf', 'WITHSCORES', 'LIMIT', 0, PORTION)
  return found, #found == 2 * PORTION and 'w ' .. found[#found] or nil
end

-- @script inspect
-- Lists the holders and waiters of one key, one portion per call. Changes nothing.
--   KEYS  lock; in a Cluster, its other keys follow
--   ARGV  where to begin: nothing, or the cursor of the last reply
--   ->    now; the cursor of the next portion, or ''; then each living claim (the part `entry`)
-- @include lock
local now = clock()
local time = tonumber(now)
-- @include entry
-- @include portion
local value = redis.call('GET', KEYS[1])
local kind = kind_of(value)
if kind == $sole then return { now, '', entry(1, value:sub($sole.token.at)) } end
if kind ~= $queue then return { now, '' } end
local found, rest = portion(KEYS[1], ARGV[1])
local replies = { now, rest or '' }
for i = 1, #found, 2 do
  local score = tonumber(found[i + 1])
  local record = redis.call('HGET', KEYS[1] .. ':claims', found[i])
  replies[#replies + 1] = record and entry(score < 0 and 1 or 0, record, score < 0 and -score or nil)
end
return replies

-- @script list
-- Finds the keys that are not free. Changes nothing.
--   KEYS  locks
--   ->    now; then for each key that is not free its index in KEYS, from 0, and its single claim (the part `entry`), '' for a
--         queue, which `inspect` reads, or "! <error>"
-- @include lock
local now = clock()
local time = tonumber(now)
-- @include entry
local replies = { now }

local function look(key)
  local value = redis.pcall('GET', key)
  local kind = kind_of(value)
  if kind == $free then return nil end
  return kind == $queue and '' or entry(1, value:sub($sole.token.at))
end

for i, key in ipairs(KEYS) do
  local found = safely(look, key)
  if found then
    replies[#replies + 1] = i - 1
    replies[#replies + 1] = found
  end
end
return replies
