-- Sets holds to lapse their ttl from now. Never creates one, never revives one.
--   KEYS  per hold: lock; of a Cluster, then the others
--   ARGV  per hold: "<id> <take> <of> <ttl> ", as its record has it unless its ttl was changed; "<ttl> <ms to keep the key>"
--   ->    per hold, and of one hold by itself: 1 renewed, 0 gone, "! <error>"; 2 where it stands in a line and enough of those were
--         renewed by one script: it is to be asked for again
-- @include lock
-- @include line
local now = clock()
local time = tonumber(now)

-- Alone, mostly nothing of it changes but its last sign of life. A new text costs a script as much as a command.
local function renew_sole(key, value, hold, ttl, keep)
  local old, claim = ttl, nil
  if value:find(hold, $sole.words, true) ~= $sole.words then
    -- Another one, or its ttl was changed.
    local id, take, of, was, channel, label = value:match($sole[id, take, of, ttl, channel, label])
    if id ~= hold:match($hold[id]) then return 0 end
    old, claim = was, $claim{id, take, of, ttl, channel, label}
  end
  if value:sub($sole.seen) + old * 1000 <= time then return 0 end
  local ticket = value:sub($sole.ticket)
  -- The key is kept until its last ticket is behind the clock.
  local ahead = ticket > now and ticket + value:sub($sole.span) - time or 0
  -- First, since short of memory it is allowed, and what a script writes after it.
  redis.call('PEXPIREAT', key, math.ceil((time + ahead) / 1000) + keep)
  -- Not allowed to a user with the rights of an older version.
  if not claim and redis.pcall('SETRANGE', key, $sole.seen.offset, now) == #value then return 1 end
  claim = claim or value:sub($sole.words)
  redis.call('SET', key, $sole{ticket, span = value:sub($sole.span), seen = now, words = claim}, 'KEEPTTL')
  return 1
end

-- A line is ten times as dear as a hold that is alone.
local lines_left = 50

local function renew(key, hold, asked)
  local value = redis.pcall('GET', key)
  local kind = kind_of(value)
  if kind == $free then return 0 end
  local ttl, keep = asked:match('^(%d+) (%d+)$')
  if kind == $sole then return renew_sole(key, value, hold, ttl, keep) end
  lines_left = lines_left - 1
  if lines_left < 0 then return 2 end
  local id = hold:match($hold[id])
  local line = open(key, value, now, keep - ttl)
  local score = redis.call('ZSCORE', line.line, id)
  if not score or -score <= line.time then return 0 end
  redis.call('PEXPIREAT', key, math.ceil(time / 1000) + keep)
  line.far = time + ttl * 1000
  redis.call('ZADD', line.line, 'XX', -line.far, id)
  if id == line.whole then line.whole_until = line.far end
  line:save()
  return 1
end

local replies, count = {}, #ARGV / 2
for i = 1, count do
  replies[i] = safely(renew, KEYS[i], ARGV[2 * i - 1], ARGV[2 * i])
  if type(replies[i]) == 'table' then return replies[i] end
end
return count == 1 and replies[1] or replies
