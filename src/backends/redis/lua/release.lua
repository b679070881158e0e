-- Gives up holds or places, each on its own, and admits whoever is next and tells them. Never too late.
--   KEYS  per handle: lock
--   ARGV  per handle: id
--   ->    per handle: 1 if there was something to give up, 0 if not, "! <error>"
local replies, done = {}, 0
-- The quick way, before anything is defined: it is alone.
for i = 1, #KEYS do
  local id = ARGV[i]
  local value = redis.pcall('GET', KEYS[i])
  if not value or value.err or value:sub(1, 7) ~= '1 sole ' or value:sub(47, 47 + #id) ~= id .. ' ' then break end
  if redis.pcall('SET', KEYS[i], '1 free ' .. value:sub(8, 28), 'KEEPTTL').err then break end
  replies[i], done = 1, i
end
if done == #KEYS then return replies end
local TIME = redis.call('TIME')
-- @include alone
-- @include line
-- @include release
for i = done + 1, #KEYS do
  replies[i] = safely(release, KEYS[i], ARGV[i], redis.pcall('GET', KEYS[i]))
end
return replies
