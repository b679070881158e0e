-- Sets holds to lapse their ttl from now. Never creates one, never revives one.
--   KEYS  lock, line, claims of each hold
--   ARGV  id, ttl ms of each hold
--   ->    per hold: 1 renewed, 0 gone, -1 unreadable
-- @include alone
local now = clock(redis.call('TIME'))
-- @include line

-- A renewal goes through when memory is short: PEXPIREAT is allowed then, and after a script's first write so are the others.
local function first_write(key, lapse)
  redis.call('PEXPIREAT', key, math.ceil(lapse / 1000) + DAY)
end

local function renew(lock_key, line_key, claims_key, id, ttl)
  local value = redis.pcall('GET', lock_key)
  if not value then return 0 end
  if value.err then return -1 end
  local kind = value:sub(1, 7)
  local lapse = time + ttl * 1000
  if kind == '1 free ' then return 0 end
  if kind == '1 sole ' then
    local mine, seats, old, rest = value:match('^(%S+) (%d+ %d+) (%d+)(.*)$', 59)
    if mine ~= id or value:sub(42, 57) + old * 1000 <= time then return 0 end
    first_write(lock_key, lapse)
    local state = ('%s%s %s %s %s%s'):format(value:sub(1, 41), now, id, seats, ttl, rest)
    redis.call('SET', lock_key, state, 'PX', ttl + DAY)
    return 1
  end
  if kind ~= '1 line ' or not open(lock_key, line_key, claims_key, value) then return -1 end
  local score = redis.pcall('ZSCORE', line_key, id)
  if not score then return 0 end
  if type(score) == 'table' then return -1 end
  if -tonumber(score) <= time then return 0 end
  first_write(lock_key, lapse)
  redis.call('ZADD', line_key, 'XX', -lapse, id)
  far = lapse
  save()
  return 1
end

local replies = {}
for i = 1, #ARGV / 2 do
  replies[i] = renew(KEYS[3 * i - 2], KEYS[3 * i - 1], KEYS[3 * i], ARGV[2 * i - 1], ARGV[2 * i])
end
return replies
