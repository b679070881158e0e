-- Forced release of the claim with this ticket, whoever holds it; admits whoever is next and tells them.
--   KEYS  lock, line, claims
--   ARGV  ticket
--   ->    1 if there was one, else 0
-- @include alone
local now = clock()
local value = redis.call('GET', KEYS[1])
if not value or value:sub(1, 7) == '1 free ' then return 0 end
local last, ticket = value:match('^1 sole (%d+) (%d+) ')
if last then
  if ticket ~= ARGV[1] then return 0 end
  set_free(KEYS[1], tonumber(last), now)
  return 1
end
-- @include line
if not open(KEYS[1], KEYS[2], KEYS[3], value) then return unreadable() end
local found = redis.call('HGETALL', claims)
for i = 1, #found, 2 do
  if found[i + 1]:match('^%d+') == ARGV[1] then
    local gone = leave(found[i])
    settle()
    save()
    return gone
  end
end
return 0
