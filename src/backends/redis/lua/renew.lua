-- @script renew
-- Renews holds: each expires its ttl after now. Never creates or revives a hold.
--   KEYS  per hold: lock; in a Cluster, the other keys of all locks follow
--   ARGV  per hold: "<id> <units> <capacity> <ttl> ", the beginning of its record unless its ttl was changed; "<ttl> <ms to keep
--         the key>"
--   ->    per hold (a single one gets its reply without an array): 1 renewed, 0 gone, "! <error>"; 2 not renewed, since one script
--         renews only some holds in queues: the caller has to ask again
-- @include lock
-- @include queue
local now = clock()
local time = tonumber(now)

-- For each text `asked`: the latest sign of life that is too old, and the time when the key expires. Most holds ask for the same
-- ttl, and to make these two texts takes a script as long as a command. So this table keeps the texts.
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
    -- Either another claim has the lock, or the ttl of this claim was changed.
    local id, units, capacity, ttl, channel, label = value:match($sole[id, units, capacity, ttl, channel, label])
    if id ~= hold:match($hold[id]) then return 0 end
    since, claim = $sole.seen.format(time - ttl * 1000), $claim{id, units, capacity, ttl = asked.ttl, channel, label}
  end
  if value:sub($sole.seen) <= since then return 0 end
  local token = value:sub($sole.token)
  -- The key is kept until its last token is behind the clock.
  if token > now then vanishes = math.ceil((token + value:sub($sole.tokenCount)) / 1000) + asked.keep end
  -- A server that is short of memory refuses SET and SETRANGE, unless the script has already written. It allows PEXPIREAT. So
  -- PEXPIREAT comes first.
  redis.call('PEXPIREAT', key, vanishes)
  -- Mostly only the last sign of life changes.
  if claim then
    redis.call('SET', key, $sole{token, tokenCount = value:sub($sole.tokenCount), seen = now, words = claim}, 'KEEPTTL')
  else
    redis.call('SETRANGE', key, $sole.seen.offset, now)
  end
  return 1
end

-- How many holds in queues this script may still renew. Each costs ten times as much as a hold that is alone.
local queues_left = 50

local function renew(key, hold, asked)
  local value = redis.pcall('GET', key)
  local kind = kind_of(value)
  if kind == $free then return 0 end
  local wanted = terms[asked] or terms_of(asked)
  if kind == $sole then return renew_sole(key, value, hold, wanted) end
  queues_left = queues_left - 1
  if queues_left < 0 then return 2 end
  local id = hold:match($hold[id])
  local rule = queue_rule()
  local queue = rule.open(key, value, now, wanted.keep - wanted.ttl)
  local score = redis.call('ZSCORE', queue.key, id)
  if not score or -score <= queue.time then return 0 end
  redis.call('PEXPIREAT', key, wanted.vanishes)
  queue.latest = time + wanted.ttl * 1000
  redis.call('ZADD', queue.key, 'XX', -queue.latest, id)
  if id == queue.exclusive then queue.exclusive_until = queue.latest end
  rule.save(queue)
  return 1
end

return answer(renew, 2)
