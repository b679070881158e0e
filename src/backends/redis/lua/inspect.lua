-- Who holds and who waits for one key, a portion at a time. Reads only.
--   KEYS  lock; of a Cluster, then the others
--   ARGV  where to begin: nothing, or what the last portion named
--   ->    now, where to go on (nothing: that was all), then each living claim (include/standing.lua)
-- @include lock
local now = clock()
local time = tonumber(now)
-- @include standing
-- @include portion
local value = redis.call('GET', KEYS[1])
local kind = kind_of(value)
if kind == $sole then return { now, '', standing(1, value:sub($sole.token.at)) } end
if kind ~= $line then return { now, '' } end
local found, rest = portion(KEYS[1], ARGV[1])
local replies = { now, rest or '' }
for i = 1, #found, 2 do
  local score = tonumber(found[i + 1])
  local record = redis.call('HGET', KEYS[1] .. ':claims', found[i])
  replies[#replies + 1] = record and standing(score < 0 and 1 or 0, record, score < 0 and -score or nil)
end
return replies
