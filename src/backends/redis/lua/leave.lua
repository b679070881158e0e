-- Gives up a hold, leaves words under its key, and tells them to the claims that wait. A place is given up without words.
--   KEYS  lock; of a Cluster, then the others, and the key of the words
--   ARGV  what release.lua takes; the words; µs for which they stay; 1 if they have no age
--   ->    what release.lua replies, and 4 more if words were left
-- @include lock
-- @include free
-- @include line
-- @include release
-- @include words
local now = clock()
local time = tonumber(now)
-- This number of waiting claims get a message. Each of them leaves, or asks, and so lets the next one ask.
local TOLD = 50
-- Words of at most this many bytes go with the message. Copies of longer ones would hold up the server, so each claim asks for them.
local CARRIED = 4096

-- Gives the token of the hold, if it is one.
local function token_of(key, value, kind, id)
  if kind == $free then return nil end
  if kind == $sole then
    local sole, ttl = value:match($sole[id, ttl])
    return sole == id and value:sub($sole.seen) + ttl * 1000 > time and value:sub($sole.token) or nil
  end
  local score = redis.call('ZSCORE', key .. ':line', id)
  local record = score and redis.call('HGET', key .. ':claims', id)
  return record and -score > time and record:sub($record.token) or nil
end

-- `since` and `ends`: µs of the clock, so that a claim that reads its message late knows how old the words are by then.
local function tell_all(key, token, since, ends)
  local text = ARGV[2]
  local words = #text <= CARRIED and ('%s %.0f %.0f '):format(token, since, ends) .. text
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', key .. ':line', '(0', '+inf', 'LIMIT', 0, TOLD)) do
    local record = redis.call('HGET', key .. ':claims', id)
    local channel = record and record:match($record[channel])
    if channel and channel ~= '-' then
      line_rule().send(channel:match('^%??(.*)$'), words and 'left ' .. id .. ' ' .. words or 'ask ' .. id)
    end
  end
end

local function leave(key, asked)
  local value = redis.pcall('GET', key)
  local kind = kind_of(value)
  local token = token_of(key, value, kind, asked:match('^%S+'))
  if not token then return release(key, asked) and 0 end
  local ends = time + ARGV[3]
  local since = ARGV[4] == '1' and ends or time
  -- First, since a server that is short of memory refuses it, and then the hold goes on.
  keep_words(key, { attempts = 0, begun = '0', mark = '-', counts = 0, token = token, since = since, ends = ends, text = ARGV[2] })
  -- Before the release: the claim that it admits waits no more, and would not be told.
  if kind == $line then tell_all(key, token, since, ends) end
  return release(key, asked) + 4
end

return safely(leave, KEYS[1], ARGV[1])
