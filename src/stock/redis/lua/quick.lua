-- The common case of a take without a token, for speed: everything is as it should be, and there is nothing to give back.
-- Else it changes nothing, and step.lua decides. Numbers go to HSET as they are: Redis writes whole ones without loss.
--   KEYS  as step.lua
--   ARGV  epoch, id, buyer, units; then, unless all are 0: ttl in ms (0: sold at once), limit, units the buyer has in other
--         cells
--   ->    the engine's ms, or 1 where nothing depends on it; 0 where step.lua has to be asked
local call = redis.call
local id, buyer, units, ttl, limit = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5] or 0), tonumber(ARGV[6] or 0)
local cell = call('HMGET', KEYS[1], 'free', 'sold', 'reserved', 'epoch', 'v')
if cell[5] ~= '1' or cell[4] ~= ARGV[1] or cell[1] - units < 0 then return 0 end
local status, had, now, til = 'sold', cell[2], 1, '0'
if ttl > 0 or cell[3] ~= '0' then
  local time = call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
  local first = call('ZRANGE', KEYS[4], 0, 0, 'WITHSCORES')
  if first[2] and tonumber(first[2]) <= now then return 0 end
  if ttl > 0 then status, had, til = 'reserved', cell[3], ('%.0f'):format(now + ttl) end
end
if limit > 0 and ARGV[7] + (call('HGET', KEYS[3], buyer) or 0) + units > limit then return 0 end
if call('HSETNX', KEYS[2], id, status .. ' ' .. units .. ' ' .. til .. ' ' .. buyer) == 0 then return 0 end
if ttl > 0 then call('ZADD', KEYS[4], til, id) end
if buyer ~= '' then call('HINCRBY', KEYS[3], buyer, units) end
call('HSET', KEYS[1], 'free', cell[1] - units, status, had + units)
return now
