-- Writes a product's layout, if nobody else did so in the meantime.
--   KEYS  layout
--   ARGV  the version it must have; 0: there is none. The layout, as JSON
--   ->    1, or 0 where it has another version
local known = redis.call('GET', KEYS[1])
local version = known and cjson.decode(known).version or 0
if version ~= tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1
