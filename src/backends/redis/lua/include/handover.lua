-- The way of a hot key: the holder of all seats leaves, and the first in line takes them all. Nothing is written unless that is
-- the whole story: true if it was.
local function hand_over(key, value, now, remember)
  if value:sub(30, 45) <= now then return false end
  local line, claims = key .. ':line', key .. ':claims'
  local id = redis.call('ZRANGEBYSCORE', line, '(0', '+inf', 'LIMIT', 0, 1)[1]
  local record = id and redis.call('HGET', claims, id)
  if not record then return false end
  local take, of, ttl, channel = record:match('^%S+ (%d+) (%d+) (%d+) ([^%s?-]%S*)', 40)
  if not take or take ~= of then return false end
  local seen = record:sub(23, 38)
  local lapse = ('%016.0f'):format(seen + ttl * 1000)
  -- As save() of line.lua has it, which would make the keys live longer.
  local gone, keep = value:match('^(%S+) (%d+)$', 47)
  if lapse <= now or lapse / 1000 + remember > keep + 0 then return false end
  -- Written before it is told: a server that takes no writes (cut off from its replicas, or one itself by now) ends here.
  redis.call('ZREM', line, gone)
  local heard = publish(channel, mail_of(channel, record, id, ttl))
  if type(heard) ~= 'number' or heard == 0 then
    -- Unheard: the general way passes over it.
    redis.call('ZADD', line, '-' .. value:sub(30, 45), gone)
    return false
  end
  redis.call('HDEL', claims, gone)
  redis.call('ZADD', line, '-' .. lapse, id)
  redis.call('SET', key, value:sub(1, 29) .. lapse .. ' ' .. id .. ' ' .. keep, 'PXAT', keep)
  return true
end
