-- @part queue
-- `ahead`: the last token is ahead of the clock, by a quorum's proposal, or a clock that was set back.
local function set_free(lock, free, remember, ahead)
  local set = ahead and redis.pcall('SET', lock, free, 'KEEPTTL') or redis.pcall('SET', lock, free, 'PX', remember)
  -- Short of memory, SET is refused and DEL is not. The next token is still the engine's time.
  if set.err then redis.call('DEL', lock) end
end

-- The rule over a queue of several (src/core/contract/admission.ts): a claim is admitted when all units taken up to and including it
-- fit the smallest capacity named among them. The admitted are a prefix, so what is known of them is a sum, in the lock's string
-- (`queue` of src/backends/redis/layout.ts). Besides it there are:
--   queue   sorted set of ids: holders below zero, at minus their expiry; waiters above, at their token
--   claims  hash: id -> record
-- Defined where the first queue of a script is met, since most scripts meet none.
local rule_of_queue
local function queue_rule()
  if rule_of_queue then return rule_of_queue end
  -- Wider than any capacity.
  local UNLIMITED = 2147483648
  -- Where to be unheard is no proof of death, silence is: µs without an attempt (PLACE_TTL_MS of the contract). A grant sent there
  -- is good for no longer, until its process renews it: it may be dead.
  local SILENCE_US = 6000000
  -- How many holders one script counts again, at most.
  local MAX_RECOUNTED = 500
  -- Capacities that are counted apart.
  local MAX_CAPACITIES = 8
  -- The keys are made to live longer in steps of this.
  local SPARE_MS = 300000
  -- How many one script may pass or admit, over all it is asked: a few ms of the server's time. The next one goes on from there.
  -- Meanwhile too few are admitted, never too many.
  local steps_left = 50

  local function units_of(record)
    local units, capacity, ttl, channel = record:match($record[units, capacity, ttl, channel])
    return tonumber(units), tonumber(capacity), record:sub($record.seen) + ttl * 1000, channel
  end

  -- Where the widest that is not wider than this one stands among the capacities; -1 if they all are.
  local function place_of(capacities, capacity)
    local at = #capacities - 1
    while at > 0 and capacities[at] > capacity do at = at - 2 end
    return at
  end

  local function take_units(queue, units, capacity, id, expiry)
    if queue.taken == 0 and units >= capacity then queue.exclusive, queue.exclusive_until = id, expiry end
    queue.taken = queue.taken + units
    local capacities = queue.capacities
    local at = place_of(capacities, capacity)
    if capacities[at] == capacity then
      capacities[at + 1] = capacities[at + 1] + 1
      return
    end
    table.insert(capacities, at + 2, capacity)
    table.insert(capacities, at + 3, 1)
    if #capacities > 2 * MAX_CAPACITIES then
      -- Too small a capacity only admits fewer.
      local named = table.remove(capacities)
      table.remove(capacities)
      capacities[#capacities] = capacities[#capacities] + named
      queue.exact = math.min(queue.exact, capacities[#capacities - 1])
    end
    queue.capacity = capacities[1]
  end

  local function take_none(queue)
    queue.taken, queue.capacities, queue.capacity, queue.exact, queue.exclusive = 0, {}, UNLIMITED, UNLIMITED, nil
  end

  -- The queue of a lock, from its string: `sole`, which becomes a queue, or one already.
  local function open(lock, value, now, remember)
    local queue = {
      lock = lock,
      key = lock .. ':queue',
      claims = lock .. ':claims',
      time = tonumber(now),
      remember = remember,
      last = value:sub($queue.token) + value:sub($queue.tokenCount) - 1,
      keep = 0, -- ms at which the three keys vanish
      latest = 0, -- the latest expiry set here
      earliest = nil, -- the earliest expiry among the holders
      empty = false, -- nobody is left
      more = false, -- the portion was used up before all was done
    }
    -- The units taken; the capacities that the holders named, the smallest first, and how many named each, in turn; the smallest of
    -- them; below what they are exact; the holder that leaves no unit, if there is one.
    take_none(queue)
    if value:sub($queue.kind) == $queue then
      local taken, capacities, exact, keep, exclusive = value:match($queue[taken, capacities, exact, keep, exclusive])
      queue.keep = tonumber(keep)
      if exclusive == '-' then
        queue.taken, queue.exact = tonumber(taken), tonumber(exact)
        for number in capacities:gmatch('%d+') do queue.capacities[#queue.capacities + 1] = tonumber(number) end
        queue.capacity = queue.capacities[1] or UNLIMITED
      else
        take_units(queue, 1, 1, exclusive, tonumber(value:sub($queue.expiry)))
      end
    else
      local record = value:sub($sole.token.at)
      local units, capacity, expiry = units_of(record)
      local id = record:match($record[id])
      queue.latest = expiry
      take_units(queue, units, capacity, id, expiry)
      -- What a lock that was deleted by hand, or evicted, may have left: possibly much, which UNLINK frees behind the scenes.
      redis.call('UNLINK', queue.key, queue.claims)
      redis.call('HSET', queue.claims, id, record)
      redis.call('ZADD', queue.key, -expiry, id)
    end
    if not queue.keep then error(UNREADABLE, 0) end
    return queue
  end

  local function save(queue)
    local token = $queue.token.format(queue.last)
    if queue.empty then return set_free(queue.lock, $free{token, tokenCount = '0001'}, queue.remember, queue.last > queue.time) end
    local needed = math.max(queue.latest, queue.last) / 1000 + queue.remember
    if needed > queue.keep then
      queue.keep = math.ceil(needed + SPARE_MS)
      redis.call('PEXPIREAT', queue.key, queue.keep)
      redis.call('PEXPIREAT', queue.claims, queue.keep)
    end
    local exclusive, expiry = queue.exclusive or '-', $queue.expiry.format(queue.exclusive and queue.exclusive_until or 0)
    local capacities = table.concat(queue.capacities, ':')
    local state = $queue{token, tokenCount = '0001', expiry, taken = queue.taken, capacities, exact = queue.exact, keep = queue.keep, exclusive}
    redis.call('SET', queue.lock, state, 'PXAT', queue.keep)
  end

  -- Removes a hold or a place; 1 if it was alive. The queue is to be settled after it.
  local function remove(queue, id)
    if id == queue.exclusive then
      take_none(queue)
      redis.call('HDEL', queue.claims, id)
      return redis.call('ZREM', queue.key, id) == 1 and queue.exclusive_until > queue.time and 1 or 0
    end
    local score = redis.call('ZSCORE', queue.key, id)
    local record = redis.call('HGET', queue.claims, id)
    redis.call('ZREM', queue.key, id)
    redis.call('HDEL', queue.claims, id)
    if not score then return 0 end
    score = tonumber(score)
    if not record then
      queue.exact = 0 -- damaged
      return 0
    end
    local units, capacity, expiry = units_of(record)
    if score < 0 then
      expiry = -score
      queue.taken = queue.taken - units
      -- Where two capacities are counted as one, the wider one goes first, no matter which holder leaves. So each holder that stays
      -- has one here that is no wider than its own.
      local capacities = queue.capacities
      local at = place_of(capacities, capacity)
      if at > 0 then capacities[at + 1] = capacities[at + 1] - 1 end
      if capacities[at + 1] == 0 then
        table.remove(capacities, at)
        table.remove(capacities, at)
        queue.capacity = capacities[1] or UNLIMITED
      end
    end
    return expiry > queue.time and 1 or 0
  end

  -- Counts the sum and the capacities again, where the smallest may not be exact. With many holders both stay until there are fewer:
  -- the sum is too large, the capacity too small, if they are wrong.
  local function recount(queue)
    if redis.call('ZCOUNT', queue.key, '-inf', '(0') > MAX_RECOUNTED then return end
    take_none(queue)
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', queue.key, '-inf', 0)) do
      local record = redis.call('HGET', queue.claims, id)
      if record then
        local units, capacity, expiry = units_of(record)
        take_units(queue, units, capacity, id, expiry)
      else
        redis.call('ZREM', queue.key, id)
      end
    end
  end

  -- Removes holders whose lease is over. The sum starts from nothing whenever nobody holds, so that no damage to it lasts.
  local function sweep(queue)
    -- No unit is taken where nobody holds: damage makes the sum too large, never too small.
    while queue.taken > 0 do
      local first = redis.call('ZREVRANGEBYSCORE', queue.key, 0, '-inf', 'WITHSCORES', 'LIMIT', 0, 1)
      queue.earliest = first[2] and -tonumber(first[2])
      if not queue.earliest then break end
      if queue.earliest > queue.time then
        if queue.capacity >= queue.exact then recount(queue) end
        return
      end
      queue.more = steps_left < 1
      if queue.more then return end
      steps_left = steps_left - 1
      remove(queue, first[1])
    end
    queue.earliest = nil
    take_none(queue)
  end

  -- A channel begins with a sign: `!` where its process surely listens at this server, `?` where it may not, `*` where it is a
  -- sharded one. Gives how many listen.
  local function send(channel, message)
    -- The server counts its own listeners only, but replicates a PUBLISH: who still listens at an old primary, a replica by now,
    -- would take for a grant what was counted as unheard, and given to the next one.
    redis.set_repl(redis.REPL_NONE)
    local heard = redis.pcall(channel:sub(1, 1) == '*' and 'SPUBLISH' or 'PUBLISH', channel:sub(2), message)
    redis.set_repl(redis.REPL_ALL)
    return heard
  end

  -- Whether the process of this channel may be dead, or may listen to it at another node. It listens to a sharded channel at one
  -- node: if that is this one, no other passes the message on. (An error is a right that is missing.)
  local function in_doubt(channel)
    local sign = channel:sub(1, 1)
    return sign == '?' or sign == '*' and (redis.pcall('PUBSUB', 'SHARDNUMSUB', channel:sub(2))[2] or 0) == 0
  end

  -- Sends a claim its grant: its id, its token, the ms it is good for since its last sign of life, and how many tokens from that one
  -- on are its own. If the slot of a sharded channel has moved, the error means that the claim will ask. False if its process is
  -- gone.
  local function notify(id, record, expiry, channel)
    if channel == '-' then return true end
    local good = math.floor((expiry - record:sub($record.seen)) / 1000)
    local message = 'grant ' .. id .. ' ' .. record:sub($record.token) .. ' ' .. good .. ' ' .. record:sub($record.tokenCount)
    -- An error is a right that is missing: the claim will ask.
    return send(channel, message) ~= 0 or channel:sub(1, 1) ~= '!'
  end

  -- Admits those whom the rule admits and notifies them; `me` hears it from its own reply. True if nobody is left waiting.
  local function admit(queue, me)
    while not queue.more do
      if queue.taken >= queue.capacity then return false end
      local id = redis.call('ZRANGEBYSCORE', queue.key, '(0', '+inf', 'LIMIT', 0, 1)[1]
      if not id then return true end
      if steps_left < 1 then break end
      steps_left = steps_left - 1
      local record = redis.call('HGET', queue.claims, id)
      local units, capacity, expiry, channel
      if record then
        units, capacity, expiry, channel = units_of(record)
        -- When a claim that waits is over, and when its hold will be if nothing but a message tells it.
        if id ~= me and in_doubt(channel) then expiry = math.min(expiry, record:sub($record.seen) + SILENCE_US) end
      end
      local alive = record and (id == me or expiry > queue.time)
      if alive and queue.taken + units > math.min(queue.capacity, capacity) then return false end
      -- First, so that nobody is notified of a grant that the server then refuses to write.
      if alive then redis.call('ZADD', queue.key, -expiry, id) end
      if alive and (id == me or notify(id, record, expiry, channel)) then
        take_units(queue, units, capacity, id, expiry)
        queue.latest = math.max(queue.latest, expiry)
        queue.earliest = math.min(queue.earliest or expiry, expiry)
      else
        redis.call('ZREM', queue.key, id)
        redis.call('HDEL', queue.claims, id)
      end
    end
    queue.more = true
    return false
  end

  -- After all that may have changed the queue. True if nobody is left waiting.
  local function settle(queue, me)
    sweep(queue)
    local served = admit(queue, me)
    queue.empty = served and not queue.earliest
    return served
  end

  -- Gives up a hold or a place: 1 if there was one, 0 if not; 2 more where the portion was used up.
  local function withdraw(lock, value, now, remember, id)
    local queue = open(lock, value, now, remember)
    local freed = remove(queue, id)
    settle(queue)
    save(queue)
    return freed + (queue.more and 2 or 0)
  end

  rule_of_queue = {
    open = open, take_units = take_units, remove = remove, settle = settle, save = save, withdraw = withdraw,
    send = send,
  }
  return rule_of_queue
end

-- @part release
-- Gives up one hold or place. `asked`: its id, and for how long its last token is remembered, ms.
local function release(key, asked)
  local value = redis.pcall('GET', key)
  local kind = kind_of(value)
  if kind == $free then return 0 end
  local blank = asked:find(' ', 1, true)
  local remember = asked:sub(blank + 1)
  if kind == $sole then
    if value:sub($sole.words, $sole.words + blank - 1) ~= asked:sub(1, blank) then return 0 end
    local token = value:sub($sole.token)
    -- What is not ahead of its last sign of life is not ahead of the clock, which need not be asked then.
    local ahead = token > value:sub($sole.seen) and token > clock()
    set_free(key, $free{token, tokenCount = value:sub($sole.tokenCount)}, remember, ahead)
    return 1
  end
  return queue_rule().withdraw(key, value, clock(), remember, asked:sub(1, blank - 1))
end
