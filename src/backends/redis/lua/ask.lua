-- The attempt of a claim that words may answer. Words that do make an end of its place, or of its hold.
--   KEYS  lock; of a Cluster, then the others, and the key of the words
--   ARGV  what attempt.lua takes; what release.lua takes; µs that the words may be old; the mark; µs for which the claim counts, with its ttl
--   ->    answered  "=", now, the token of the words, when their age began, when they end, the words
--         else      the reply of attempt.lua; the attempts if it is granted and counts, or nothing; the mark of the hold that stands first, if it counts
-- @include lock
local now = clock()
local time = tonumber(now)
-- @include take
-- @include free
-- @include line
-- @include contended
-- @include attempt
-- @include release
-- @include words
-- The token of the hold that stands first: an earlier one, which failed or died, may have set the mark.
local function first_of(key)
  local value = redis.call('GET', key)
  if kind_of(value) == $sole then return value:sub($sole.token) end
  local first = redis.call('ZRANGEBYSCORE', key .. ':line', '-inf', '(0', 'LIMIT', 0, 1)[1]
  local record = first and redis.call('HGET', key .. ':claims', first)
  return record and record:sub($record.token)
end

local ANY_AGE = 1e16

local function ask(key, asked, keep)
  local oldest, mark, counts = tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[6])
  local known = words_of(key)
  local age = known and (known.since < known.ends and time - known.since or 0)
  -- After the clock was set back it is below 0.
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
    keep_words(key, known)
  end
  return { reply, tostring(attempts), mark }
end

local reply = safely(ask, KEYS[1], ARGV[1], ARGV[2])
return type(reply) == 'table' and reply or { reply }
