-- Writes or removes a product's layout, if no other process has changed the layout since the caller read it.
--   KEYS  layout
--   ARGV  identity and version that the stored layout must have (version 0: none is stored); the new layout as JSON, or '' to remove it
--   ->    1; 0 if another layout is stored
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
