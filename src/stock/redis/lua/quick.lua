-- The common case of a take without a token, for speed: everything is as it should be, and there is nothing to give back.
-- Else it changes nothing, and step.lua decides.
--   KEYS  as step.lua
--   ARGV  epoch, id, buyer, units, ttl in ms (0: sold at once), limit, units the buyer has in other cells
--   ->    the engine's ms, or 0 where step.lua has to be asked
local units, ttl, limit = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local status = ttl > 0 and 'reserved' or 'sold'
local cell = redis.call('HMGET', KEYS[1], 'v', 'epoch', 'free', status)
if cell[1] ~= '1' or cell[2] ~= ARGV[1] or tonumber(cell[3]) < units then return 0 end
local first = redis.call('ZRANGE', KEYS[4], 0, 0, 'WITHSCORES')
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if first[2] and tonumber(first[2]) <= now then return 0 end
if limit > 0 and ARGV[7] + tonumber(redis.call('HGET', KEYS[3], ARGV[3]) or 0) + units > limit then return 0 end
local til = ttl > 0 and ('%.0f'):format(now + ttl) or '0'
if redis.call('HSETNX', KEYS[2], ARGV[2], status .. ' ' .. ARGV[4] .. ' ' .. til .. ' ' .. ARGV[3]) == 0 then return 0 end
if ttl > 0 then redis.call('ZADD', KEYS[4], til, ARGV[2]) end
if ARGV[3] ~= '' then redis.call('HINCRBY', KEYS[3], ARGV[3], units) end
redis.call('HSET', KEYS[1], 'free', ('%.0f'):format(cell[3] - units), status, ('%.0f'):format(cell[4] + units))
return now
