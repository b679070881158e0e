-- Who holds and who waits. Reads only; ids and channels stay here.
--   KEYS  lock, line, claims
--   ->    now, then per living claim: <1 held or 0> <ticket> <joined> <lapse> <take> <of> <label>
-- @include alone
local now = clock()
local value = redis.call('GET', KEYS[1])
local replies = { ('%.0f'):format(now) }

local function show(held, record, lapse)
  local ticket, joined, till, take, of, label = record:match('^(%d+) (%d+) (%d+) %S+ (%d+) (%d+) %d+ %S+ (.*)$')
  lapse = lapse or tonumber(till)
  if lapse <= now then return end
  replies[#replies + 1] = ('%d %s %s %.0f %s %s %s'):format(held, ticket, joined, lapse, take, of, label)
end

if not value or value:sub(1, 7) == '1 free ' then return replies end
local record = value:match('^1 sole %d+ (.*)$')
if record then
  show(1, record)
elseif value:sub(1, 7) == '1 line ' then
  local line = redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES')
  for i = 1, #line, 2 do
    local score = tonumber(line[i + 1])
    record = redis.call('HGET', KEYS[3], line[i])
    if record then show(score < 0 and 1 or 0, record, score < 0 and -score or nil) end
  end
else
  return unreadable()
end
return replies
