-- Who holds and who waits. Reads only; ids and channels stay here.
--   KEYS  lock; of a Cluster, then the others
--   ->    now, then per living claim: <1 held or 0> <ticket> <lapse> <take> <of> <label>
local TIME = redis.call('TIME')
-- @include alone
local value = redis.call('GET', KEYS[1])
local replies = { now }

local function show(held, record, holds_until)
  local take, of, ttl, label = record:match('^%S+ (%d+) (%d+) (%d+) %S+ (.*)$', 40)
  local lapse = holds_until or record:sub(23, 38) + ttl * 1000
  if lapse <= tonumber(now) then return end
  -- Formatted, the label would end at a zero byte.
  replies[#replies + 1] = ('%d %s %.0f %s %s '):format(held, record:sub(1, 16), lapse, take, of) .. label
end

local kind = kind_of(value)
if kind == '1 sole ' then
  show(1, value:sub(8))
elseif kind == '1 line ' then
  local line = redis.call('ZRANGE', line_of(KEYS[1]), 0, -1, 'WITHSCORES')
  for i = 1, #line, 2 do
    local score = tonumber(line[i + 1])
    local record = redis.call('HGET', claims_of(KEYS[1]), line[i])
    if record then show(score < 0 and 1 or 0, record, score < 0 and -score or nil) end
  end
end
return replies
