-- Forced release of the claim with this ticket, whoever holds it; admits whoever is next and tells them.
--   KEYS  lock; of a Cluster, then the others
--   ARGV  ticket (16 digits)
--   ->    1 if there was one, else 0
local TIME = redis.call('TIME')
-- @include alone
local value = redis.call('GET', KEYS[1])
local kind = kind_of(value)
if kind == '1 free ' then return 0 end
if kind == '1 sole ' then
  if value:sub(8, 23) ~= ARGV[1] then return 0 end
  set_free(KEYS[1], value:sub(8, 28))
  return 1
end
-- @include publish
-- @include line
open(KEYS[1], value)
local all = redis.call('HGETALL', claims)
for i = 1, #all, 2 do
  if all[i + 1]:sub(1, 16) == ARGV[1] then
    local found = leave(all[i])
    settle()
    save()
    return found
  end
end
return 0
