-- The convention: a string at the key is a hold, and its text names the owner. Our text is `holdfast <token> <id> <label>`. Other programs use the
-- keys, too. So a script changes only a value that has the id or the token of its claim.

-- @part owned
-- Reads the hold at a key: the whole text and, if the hold is ours, the id, the token and the label. Gives nil if the value is no string (say, a hash
-- of Redisson), since that is no hold of this convention.
local function holdAt(key)
  local text = redis.pcall('GET', key)
  if type(text) == 'table' then
    if not string.find(text.err, 'WRONGTYPE', 1, true) then redis.call('GET', key) end
    return nil
  end
  if not text then return nil end
  local token, id, label = string.match(text, '^holdfast (%d+) (%S+) (.*)$')
  return text, id, token, label
end

-- Gives a number that serves as the token of a hold of another program.
local function numberOf(text)
  return string.format('%.0f', tonumber(string.sub(redis.sha1hex(text), 1, 12), 16))
end

-- @script attempt
-- KEYS: the lock; outside a Cluster, also the key of the last token above the clock. ARGV: the last moment for a grant, µs; the ttl, ms; the id; the
-- least token; the label. A token is the time of the server, µs. Only a quorum asks for a higher token, which the second key keeps until the clock
-- has passed it.
-- @include owned
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local clock = string.format('%.0f', now)
if now > tonumber(ARGV[1]) then return {'late', clock} end
local least = tonumber(ARGV[4])
local token = math.max(now, least)
if KEYS[2] then token = math.max(token, (tonumber(redis.call('GET', KEYS[2]) or 0)) + 1) end
local function remember(last)
  if last > now and KEYS[2] then
    redis.call('SET', KEYS[2], string.format('%.0f', last), 'PX', math.ceil((last - now) / 1000) + 1)
  end
end
local text = string.format('holdfast %.0f ', token) .. ARGV[3] .. ' '
if redis.call('SET', KEYS[1], text .. ARGV[5], 'NX', 'PX', ARGV[2]) then
  remember(token)
  return {string.format('%.0f', token), clock}
end
local remaining = redis.call('PTTL', KEYS[1])
local _, id, held, label = holdAt(KEYS[1])
if id ~= ARGV[3] then return {'held', clock, remaining} end
-- This is the same claim again. Its expiry never moves backwards.
local ttl = math.max(remaining, tonumber(ARGV[2]))
if tonumber(held) < least then
  held = string.format('%.0f', least)
  redis.call('SET', KEYS[1], 'holdfast ' .. held .. ' ' .. id .. ' ' .. label, 'PX', ttl)
  remember(least)
else
  redis.call('PEXPIRE', KEYS[1], ttl)
end
return {held, clock}

-- @script renew
-- KEYS: the locks. ARGV: for each lock the id and the ttl, ms. Gives for each lock 1 if the id still holds it, else 0.
-- @include owned
local answers = {}
for i, key in ipairs(KEYS) do
  local _, id = holdAt(key)
  answers[i] = id == ARGV[2 * i - 1] and redis.call('PEXPIRE', key, ARGV[2 * i]) or 0
end
return answers

-- @script release
-- KEYS: the lock. ARGV: the id of the hold, or `-`; its token as a listing shows it, or `-`; the message to publish; its channels. Gives 1 if the
-- hold was there, else 0.
-- @include owned
local text, id, token = holdAt(KEYS[1])
if not text then return 0 end
if id ~= ARGV[1] and (token or numberOf(text)) ~= ARGV[2] then return 0 end
redis.call('DEL', KEYS[1])
for i = 4, #ARGV do redis.call('PUBLISH', ARGV[i], ARGV[3]) end
return 1

-- @script inspect
-- KEYS: the locks. Gives the time, µs, and for each taken lock: its index in KEYS, from 0; the ms until it expires; its token; 1 if it is ours, else
-- 0; its label or the type of its value.
-- @include owned
local time = redis.call('TIME')
local found = {string.format('%.0f', time[1] * 1000000 + time[2])}
for i, key in ipairs(KEYS) do
  local remaining = redis.call('PTTL', key)
  if remaining ~= -2 then
    local text, id, token, label = holdAt(key)
    local kind = text and 'string' or redis.call('TYPE', key).ok
    found[#found + 1] = {i - 1, remaining, token or numberOf(text or kind), id and 1 or 0, label or kind}
  end
end
return found
