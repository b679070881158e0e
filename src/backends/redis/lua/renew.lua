-- Sets holds to lapse their ttl from now. Never creates one, never revives one.
--   KEYS  lock, line, claims of each hold
--   ARGV  id, ttl ms of each hold
--   ->    per hold: 1 renewed, 0 gone, -1 unreadable
-- @include alone
local now = clock()
-- @include line

-- PEXPIREAT is allowed when memory is short, and after a script's first write the others are too.
local function first_write(key, lapse)
  redis.call('PEXPIREAT', key, day_after(lapse))
end

local function renew(lock_key, line_key, claims_key, id, lapse)
  local value = redis.pcall('GET', lock_key)
  if not value then return 0 end
  if value.err then return -1 end
  local head, old, rest = value:match('^(1 sole %d+ %d+ %d+) (%d+) (.*)$')
  if head then
    if rest:match('^%S+') ~= id or tonumber(old) <= now then return 0 end
    first_write(lock_key, lapse)
    redis.call('SET', lock_key, ('%s %.0f %s'):format(head, lapse, rest), 'PXAT', day_after(lapse))
    return 1
  end
  if value:sub(1, 7) == '1 free ' then return 0 end
  if value:sub(1, 7) ~= '1 line ' or not open(lock_key, line_key, claims_key, value) then return -1 end
  local score = redis.pcall('ZSCORE', line_key, id)
  if not score then return 0 end
  if type(score) == 'table' then return -1 end
  if -tonumber(score) <= now then return 0 end
  first_write(lock_key, lapse)
  redis.call('ZADD', line_key, 'XX', -lapse, id)
  far = lapse
  save()
  return 1
end

local replies = {}
for i = 1, #ARGV / 2 do
  replies[i] = renew(KEYS[3 * i - 2], KEYS[3 * i - 1], KEYS[3 * i], ARGV[2 * i - 1], now + ARGV[2 * i] * 1000)
end
return replies
