-- @part queue
-- The key is kept for `remember` ms after the clock has passed the last token. That token may be ahead of the clock, since a quorum
-- proposed it, or the clock was set back.
local function set_free(lock, token, tokenCount, now, remember)
  local free = $free{token, tokenCount}
  local keep = remember + math.ceil(math.max(token - now, 0) / 1000)
  if not redis.pcall('SET', lock, free, 'PX', keep).err then return end
  -- A server that is short of memory refuses SET, but not DEL. After a script has written, the server refuses no SET of that script.
  redis.call('DEL', lock)
  redis.pcall('SET', lock, free, 'PX', keep)
end

-- The rule of a queue (src/core/contract/admission.ts): a claim is admitted if its units and those of all claims before it fit the
-- smallest capacity that one of them names. So the admitted claims are the first ones of the queue, and the lock's string needs
-- only sums over them (`queue` of src/backends/redis/layout.ts). Two more keys have the claims:
--   queue   sorted set of ids: the score of a holder is minus its expiry, the score of a waiter is its token
--   claims  hash: id -> record
-- A script defines the rule when it meets the first queue, since most scripts meet none.
local rule_of_queue
local function queue_rule()
  if rule_of_queue then return rule_of_queue end
  -- The capacity while no holder names one: above all others.
  local UNLIMITED = 2147483648
  -- PLACE_TTL_MS of the contract, µs. A waiter that may listen at another node counts as dead if it makes no attempt for this
  -- time. A grant that is sent to it expires at the end of this time, too, unless its process renews the hold.
  local SILENCE_US = 6000000
  -- With more holders than this, a script does not count the holders again.
  local MAX_RECOUNTED = 500
  -- The most capacities that are counted separately. If there are more, the two largest are counted as one.
  local MAX_CAPACITIES = 8
  -- The expiry of the keys is set this much later than needed, and so is set seldom.
  local SPARE_MS = 300000
  -- How many claims this script may still skip or admit, in all its requests: 50 take a few ms of the server. The next script
  -- continues. Until then too few claims are admitted, never too many.
  local steps_left = 50

  local function units_of(record)
    local units, capacity, ttl, channel = record:match($record[units, capacity, ttl, channel])
    return tonumber(units), tonumber(capacity), record:sub($record.seen) + ttl * 1000, channel
  end

  -- Gives the index of the largest known capacity that is not above `capacity`; -1 if all are above.
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
      -- The two largest are counted as the smaller of them: a capacity that is too small only admits fewer claims.
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

  -- Reads the queue of a lock from the lock's string. A `sole` claim becomes a queue of one.
  local function open(lock, value, now, remember)
    local queue = {
      lock = lock,
      key = lock .. ':queue',
      claims = lock .. ':claims',
      time = tonumber(now),
      remember = remember,
      last = value:sub($queue.token) + value:sub($queue.tokenCount) - 1,
      keep = 0, -- the time at which the three keys expire, ms
      latest = 0, -- the latest expiry set here
      earliest = nil, -- the earliest expiry among the holders
      empty = false, -- nobody holds or waits
      more = false, -- the script may do no more, and there is more to do
    }
    -- Sets the sums (`queue` of layout.ts), and the smallest capacity, to their values without a holder.
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
      -- If somebody deleted the lock's string, its two other keys may still be there. They may be large, so UNLINK frees them in
      -- the background.
      redis.call('UNLINK', queue.key, queue.claims)
      redis.call('HSET', queue.claims, id, record)
      redis.call('ZADD', queue.key, -expiry, id)
    end
    if not queue.keep then error(UNREADABLE, 0) end
    return queue
  end

  local function save(queue)
    local token = $queue.token.format(queue.last)
    if queue.empty then return set_free(queue.lock, token, '0001', queue.time, queue.remember) end
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

  -- Removes a claim. Gives 1 if it was alive, else 0. The caller settles the queue next.
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
      -- If capacities are counted as one, this may not be the count that includes the holder. But each remaining holder keeps a count
      -- at a capacity that is not above its own.
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

  -- Counts the units and the capacities of the holders again: the smallest capacity may not be exact. With more than MAX_RECOUNTED
  -- holders it changes nothing. That is safe: wrong counts have too many units and too small a capacity.
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

  -- Removes holders whose lease is over. When nobody holds, the sums are set to 0, so that a damaged sum does not last.
  local function sweep(queue)
    -- A damaged sum is too large, never too small. So if it is 0, nobody holds.
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

  -- Sends a message, and gives the number of listeners. The channel begins with a sign: `!` if its process listens at this server,
  -- `?` if it may listen elsewhere, `*` if the channel is sharded.
  local function send(channel, message)
    -- The server counts only its own listeners, but would replicate PUBLISH. So a process that still listens at an old primary, now
    -- a replica, would get the grant, although it was not counted here and its claim was removed: the next claim is granted, too.
    redis.set_repl(redis.REPL_NONE)
    local listeners = redis.pcall(channel:sub(1, 1) == '*' and 'SPUBLISH' or 'PUBLISH', channel:sub(2), message)
    redis.set_repl(redis.REPL_ALL)
    return listeners
  end

  -- Whether the process of this channel may be dead, or may listen at another node. A sharded channel has listeners at one node
  -- only, so they are counted. (If the user has no right to that, the reply is an error and counts as no listener.)
  local function in_doubt(channel)
    local sign = channel:sub(1, 1)
    return sign == '?' or sign == '*' and (redis.pcall('PUBSUB', 'SHARDNUMSUB', channel:sub(2))[2] or 0) == 0
  end

  -- Sends a claim its grant: the id, the first token, for how many ms the hold is good from the last sign of life on, and the
  -- number of tokens. Gives false if the process is gone.
  local function notify(id, record, expiry, channel)
    if channel == '-' then return true end
    local good = math.floor((expiry - record:sub($record.seen)) / 1000)
    local message = 'grant ' .. id .. ' ' .. record:sub($record.token) .. ' ' .. good .. ' ' .. record:sub($record.tokenCount)
    -- After an error (a right is missing, or the slot of a sharded channel has moved) this gives true: the claim will ask.
    return send(channel, message) ~= 0 or channel:sub(1, 1) ~= '!'
  end

  -- Admits claims by the rule, and notifies them. The claim `me` gets its grant as the reply instead. Gives true if no claim waits
  -- any more.
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
        -- A claim that may never receive its grant expires earlier, as a waiter and as a holder.
        if id ~= me and in_doubt(channel) then expiry = math.min(expiry, record:sub($record.seen) + SILENCE_US) end
      end
      local alive = record and (id == me or expiry > queue.time)
      if alive and queue.taken + units > math.min(queue.capacity, capacity) then return false end
      -- The write comes before the message: if the server refuses the write, no claim must know of a grant.
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

  -- Removes dead holders and admits waiters. Gives true if no claim waits any more.
  local function settle(queue, me)
    sweep(queue)
    local served = admit(queue, me)
    queue.empty = served and not queue.earliest
    return served
  end

  -- Releases a claim. Gives 1 if it was there, 0 if not; 2 is added if work is left that this script may not do.
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
-- Releases one claim. `asked`: "<id> <ms for which the key keeps its last token>".
local function release(key, asked)
  local value = redis.pcall('GET', key)
  local kind = kind_of(value)
  if kind == $free then return 0 end
  local blank = asked:find(' ', 1, true)
  local remember = asked:sub(blank + 1)
  if kind == $sole then
    if value:sub($sole.words, $sole.words + blank - 1) ~= asked:sub(1, blank) then return 0 end
    set_free(key, value:sub($sole.token), value:sub($sole.tokenCount), clock(), remember)
    return 1
  end
  return queue_rule().withdraw(key, value, clock(), remember, asked:sub(1, blank - 1))
end
