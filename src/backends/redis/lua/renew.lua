-- Sets holds to lapse their ttl from now. Never creates one, never revives one.
--   KEYS  per hold: lock; of a Cluster, then the others
--   ARGV  per hold: id, ttl ms
--   ->    per hold, and of one hold by itself: 1 renewed, 0 gone, "! <error>"
local TIME = redis.call('TIME')
-- @include alone
-- @include publish
-- @include line

-- A renewal goes through when memory is short: PEXPIREAT is allowed then, and after a script's first write so are the others.
local function first_write(key, lapse)
  redis.call('PEXPIREAT', key, math.ceil(lapse / 1000) + DAY)
end

local function renew(key, id, ttl, value)
  local kind = kind_of(value)
  local lapse = time + ttl * 1000
  if kind == '1 free ' then return 0 end
  if kind == '1 sole ' then
    local mine, seats, old, rest = value:match('^(%S+) (%d+ %d+) (%d+)(.*)$', 47)
    if mine ~= id or value:sub(30, 45) + old * 1000 <= time then return 0 end
    first_write(key, lapse)
    set_sole(key, value:sub(8, 23), id .. ' ' .. seats .. ' ' .. ttl .. rest, value:sub(25, 28), ttl + DAY)
    return 1
  end
  open(key, value)
  local score = redis.call('ZSCORE', line, id)
  if not score or -tonumber(score) <= time then return 0 end
  first_write(key, lapse)
  redis.call('ZADD', line, 'XX', -lapse, id)
  far = lapse
  if id == whole then until_when = lapse end
  save()
  return 1
end

local replies, count = {}, #ARGV / 2
for i = 1, count do
  replies[i] = safely(renew, KEYS[i], ARGV[2 * i - 1], ARGV[2 * i], redis.pcall('GET', KEYS[i]))
  if type(replies[i]) == 'table' then return replies[i] end
end
return count == 1 and replies[1] or replies
