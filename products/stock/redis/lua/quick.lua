-- A fast path for the common case: new takes without a token that fit, while no reservation has run out. The script stops at
-- the first take that is different, and step.lua decides this take and the rest. Numbers go to HSET unformatted, because
-- Redis writes whole numbers without loss.
--   KEYS  as step.lua
--   ARGV  epoch, ttl in ms (0: sold at once), limit; for each take its id, buyer and units
--   ->    how many takes were done; with a ttl: this number and the engine's time in ms
local call = redis.call
local ttl, limit = tonumber(ARGV[2]), tonumber(ARGV[3])
local cell = call('HMGET', KEYS[1], 'free', 'sold', 'reserved', 'epoch', 'v')
if cell[5] ~= '1' or cell[4] ~= ARGV[1] then return 0 end
local free, status, had, now, til = cell[1], 'sold', cell[2], 0, '0'
if ttl > 0 or cell[3] ~= '0' then
  local time = call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
  local first = call('ZRANGE', KEYS[4], 0, 0, 'WITHSCORES')
  if first[2] and tonumber(first[2]) <= now then return 0 end
  if ttl > 0 then status, had, til = 'reserved', cell[3], ('%.0f'):format(now + ttl) end
end
local done = 0
for i = 4, #ARGV, 3 do
  local id, buyer, units = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  if free - units < 0 then break end
  if limit > 0 and (call('HGET', KEYS[3], buyer) or 0) + units > limit then break end
  if call('HSETNX', KEYS[2], id, $request{status, units, til, buyer}) == 0 then break end
  if ttl > 0 then call('ZADD', KEYS[4], til, id) end
  if buyer ~= '' then call('HINCRBY', KEYS[3], buyer, units) end
  free, had, done = free - units, had + units, done + 1
end
if done > 0 then call('HSET', KEYS[1], 'free', free, status, had) end
return ttl > 0 and { done, now } or done
