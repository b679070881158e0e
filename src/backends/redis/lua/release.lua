-- Gives up holds or places, each on its own, and admits whoever is next and tells them. Never too late.
--   KEYS  per handle: lock, line, claims
--   ARGV  per handle: id
--   ->    per handle: 1 if there was something to give up, 0 if not, "! <error>"
local replies, done = {}, 0
-- The quick way, before anything is defined: it is alone.
for i = 1, #ARGV do
  local id = ARGV[i]
  local value = redis.pcall('GET', KEYS[3 * i - 2])
  if not value or value.err or value:sub(1, 7) ~= '1 sole ' or value:sub(59, 59 + #id) ~= id .. ' ' then break end
  if redis.pcall('SET', KEYS[3 * i - 2], '1 free ' .. value:sub(8, 23), 'KEEPTTL').err then break end
  replies[i], done = 1, i
end
if done == #ARGV then return replies end
-- @include alone
local now = clock(redis.call('TIME'))
-- @include line
-- @include release
for i = done + 1, #ARGV do
  replies[i] = safely(release, 3 * i - 2, ARGV[i], redis.pcall('GET', KEYS[3 * i - 2]))
end
return replies
