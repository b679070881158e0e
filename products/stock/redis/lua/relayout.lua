-- Writes or forgets a product's layout, if nobody else did so in the meantime.
--   KEYS  layout
--   ARGV  identity and version it must have (version 0: there is none); the layout, as JSON, or nothing to forget it
--   ->    1, or 0 where it is another one
local known = redis.call('GET', KEYS[1])
local identity, version = '', 0
if known then
  local layout = cjson.decode(known)
  identity, version = layout.identity, layout.version
end
if identity ~= ARGV[1] or version ~= tonumber(ARGV[2]) then return 0 end
if ARGV[3] == '' then
  redis.call('UNLINK', KEYS[1])
else
  redis.call('SET', KEYS[1], ARGV[3])
end
return 1
