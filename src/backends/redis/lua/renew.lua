-- Sets holds to expire their ttl from now. Never creates one, never revives one.
--   KEYS  per hold: lock; of a Cluster, then the others
--   ARGV  per hold: "<id> <take> <of> <ttl> ", as its record has it unless its ttl was changed; "<ttl> <ms to keep the key>"
--   ->    per hold, and of one hold by itself: 1 renewed, 0 gone, "! <error>"; 2 where it stands in a line and enough of those were
--         renewed by one script: it is to be asked for again
-- @include lock
-- @include free
-- @include line
local now = clock()
local time = tonumber(now)

-- By what a hold asks for: since when it must have been seen to be alive, and when the key vanishes. Most ask for the same, and
-- to make a text costs a script as much as a command.
local terms = {}
local function terms_of(asked)
  local ttl, keep = asked:match('^(%d+) (%d+)$')
  local since, vanishes = $sole.seen.format(time - ttl * 1000), ('%.0f'):format(time / 1000 + keep)
  terms[asked] = { ttl = ttl, keep = keep, since = since, vanishes = vanishes }
  return terms[asked]
end

local function renew_sole(key, value, hold, asked)
  local since, vanishes, claim = asked.since, asked.vanishes, nil
  if value:find(hold, $sole.words, true) ~= $sole.words then
    -- Another one, or its ttl was changed.
    local id, units, capacity, ttl, channel, label = value:match($sole[id, units, capacity, ttl, channel, label])
    if id ~= hold:match($hold[id]) then return 0 end
    since, claim = $sole.seen.format(time - ttl * 1000), $claim{id, units, capacity, ttl = asked.ttl, channel, label}
  end
  if value:sub($sole.seen) <= since then return 0 end
  local token = value:sub($sole.token)
  -- The key is kept until its last token is behind the clock.
  if token > now then vanishes = math.ceil((token + value:sub($sole.tokenCount)) / 1000) + asked.keep end
  -- First, since short of memory it is allowed, and what a script writes after it.
  redis.call('PEXPIREAT', key, vanishes)
  -- Mostly nothing changes but its last sign of life. (A user with the rights of an older version may not do it so.)
  if not claim and redis.pcall('SETRANGE', key, $sole.seen.offset, now) == #value then return 1 end
  claim = claim or value:sub($sole.words)
  redis.call('SET', key, $sole{token, tokenCount = value:sub($sole.tokenCount), seen = now, words = claim}, 'KEEPTTL')
  return 1
end

-- A line is ten times as dear as a hold that is alone.
local lines_left = 50

local function renew(key, hold, asked)
  local value = redis.pcall('GET', key)
  local kind = kind_of(value)
  if kind == $free then return 0 end
  local wanted = terms[asked] or terms_of(asked)
  if kind == $sole then return renew_sole(key, value, hold, wanted) end
  lines_left = lines_left - 1
  if lines_left < 0 then return 2 end
  local id = hold:match($hold[id])
  local rule = line_rule()
  local line = rule.open(key, value, now, wanted.keep - wanted.ttl)
  local score = redis.call('ZSCORE', line.places, id)
  if not score or -score <= line.time then return 0 end
  redis.call('PEXPIREAT', key, wanted.vanishes)
  line.far = time + wanted.ttl * 1000
  redis.call('ZADD', line.places, 'XX', -line.far, id)
  if id == line.whole then line.whole_until = line.far end
  rule.save(line)
  return 1
end

local count = #ARGV / 2
if count == 1 then return safely(renew, KEYS[1], ARGV[1], ARGV[2]) end
local replies = {}
for i = 1, count do
  replies[i] = safely(renew, KEYS[i], ARGV[2 * i - 1], ARGV[2 * i])
  if type(replies[i]) == 'table' then return replies[i] end
end
return replies
