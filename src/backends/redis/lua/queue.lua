-- @part queue
-- `ahead`: the last token is ahead of the clock, since a quorum proposed it, or the clock was set back.
local function set_free(lock, free, remember, ahead)
  local set = ahead and redis.pcall('SET', lock, free, 'KEEPTTL') or redis.pcall('SET', lock, free, 'PX', remember)
  -- A server that is short of memory refuses SET, but not DEL. Without the last token, the next one is the time.
  if set.err then redis.call('DEL', lock) end
end

-- The rule of a queue (src/core/contract/admission.ts): a claim is admitted if all units that it and the claims before it take fit
-- the smallest capacity named among them. The admitted claims are the first ones of the queue, so the lock's string needs only sums
-- over them (`queue` of src/backends/redis/layout.ts). Two more keys have the claims:
--   queue   sorted set of ids: holders below zero, at minus their expiry; waiters above, at their token
--   claims  hash: id -> record
-- A script defines the rule when it meets the first queue, since most scripts meet none.
local rule_of_queue
local function queue_rule()
  if rule_of_queue then return rule_of_queue end
  -- More than any capacity.
  local UNLIMITED = 2147483648
  -- A process that may listen at another node is taken for dead after so many µs without an attempt (PLACE_TTL_MS of the contract). A
  -- grant that is sent to it expires by then, too, unless the process renews it.
  local SILENCE_US = 6000000
  -- The most holders that one script counts again.
  local MAX_RECOUNTED = 500
  -- How many capacities are counted separately at most. If there are more, the two largest are counted as one.
  local MAX_CAPACITIES = 8
  -- The expiry of the keys is moved in steps of this.
  local SPARE_MS = 300000
  -- How many claims one script may skip or admit, over all its requests: a few ms of the server's time. The next script goes on from
  -- there. Meanwhile too few claims are admitted, never too many.
  local steps_left = 50

  local function units_of(record)
    local units, capacity, ttl, channel = record:match($record[units, capacity, ttl, channel])
    return tonumber(units), tonumber(capacity), record:sub($record.seen) + ttl * 1000, channel
  end

  -- The index of the largest of the capacities that is not above this one; -1 if all are above it.
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
      -- The two largest are counted as one. A capacity that is too small only admits fewer claims.
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

  -- Reads the queue of a lock from its string. A `sole` claim becomes a queue.
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
    -- Sets the units taken; the capacities that the holders named, each followed by how many named it, the smallest first; the
    -- smallest of them; the capacity below which they are exact; and the holder that takes all units, if there is one.
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
      -- If somebody deleted the lock's string, old keys may be there. They may be large, and UNLINK frees them in the background.
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

  -- Removes a claim. Gives 1 if it was alive. The caller settles the queue after it.
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
      -- If several capacities are counted as one, each remaining holder still has a count at a capacity that is not above its own.
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

  -- Counts the units and the capacities again, when the smallest capacity may not be exact. With too many holders it changes nothing:
  -- if the counts are wrong, the units are too many and the capacity is too small.
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

  -- Removes holders whose lease is over. Whenever nobody holds, the sum starts at 0, so that a damaged sum does not last.
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

  -- Sends a message. A channel begins with a sign: `!` if its process listens at this server, `?` if it may listen elsewhere, `*` if the
  -- channel is sharded. Gives the number of listeners.
  local function send(channel, message)
    -- The server counts only its own listeners, but would replicate a PUBLISH. Then a process that still listens at an old primary, now
    -- a replica, would get a grant that was counted as not received, and given to the next claim.
    redis.set_repl(redis.REPL_NONE)
    local listeners = redis.pcall(channel:sub(1, 1) == '*' and 'SPUBLISH' or 'PUBLISH', channel:sub(2), message)
    redis.set_repl(redis.REPL_ALL)
    return listeners
  end

  -- Whether the process of this channel may be dead, or may listen at another node. It listens to a sharded channel at one node only.
  -- (If a right is missing, the reply is an error, which counts as no listener.)
  local function in_doubt(channel)
    local sign = channel:sub(1, 1)
    return sign == '?' or sign == '*' and (redis.pcall('PUBSUB', 'SHARDNUMSUB', channel:sub(2))[2] or 0) == 0
  end

  -- Sends a claim its grant: its id, its token, the ms for which it is good since its last sign of life, and how many tokens from that
  -- token on are its own. Gives false if its process is gone.
  local function notify(id, record, expiry, channel)
    if channel == '-' then return true end
    local good = math.floor((expiry - record:sub($record.seen)) / 1000)
    local message = 'grant ' .. id .. ' ' .. record:sub($record.token) .. ' ' .. good .. ' ' .. record:sub($record.tokenCount)
    -- After an error (a right is missing, or the slot of a sharded channel has moved) the claim will ask.
    return send(channel, message) ~= 0 or channel:sub(1, 1) ~= '!'
  end

  -- Admits the claims that the rule admits, and notifies them; `me` gets its grant as the reply. True if no claim waits any more.
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
        -- The expiry of a waiting claim, and of its hold if it may never receive the grant.
        if id ~= me and in_doubt(channel) then expiry = math.min(expiry, record:sub($record.seen) + SILENCE_US) end
      end
      local alive = record and (id == me or expiry > queue.time)
      if alive and queue.taken + units > math.min(queue.capacity, capacity) then return false end
      -- The write comes first: the server may refuse it, and then no claim must be notified of the grant.
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

  -- Is called after each change of the queue. True if no claim waits any more.
  local function settle(queue, me)
    sweep(queue)
    local served = admit(queue, me)
    queue.empty = served and not queue.earliest
    return served
  end

  -- Releases a claim. Gives 1 if it was there, 0 if not, and 2 more if the script may do no more, and there is more to do.
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
-- Releases one claim. `asked`: its id, and the ms for which its last token is remembered.
local function release(key, asked)
  local value = redis.pcall('GET', key)
  local kind = kind_of(value)
  if kind == $free then return 0 end
  local blank = asked:find(' ', 1, true)
  local remember = asked:sub(blank + 1)
  if kind == $sole then
    if value:sub($sole.words, $sole.words + blank - 1) ~= asked:sub(1, blank) then return 0 end
    local token = value:sub($sole.token)
    -- A token that is not ahead of the last sign of life is not ahead of the clock either, so the clock is not read.
    local ahead = token > value:sub($sole.seen) and token > clock()
    set_free(key, $free{token, tokenCount = value:sub($sole.tokenCount)}, remember, ahead)
    return 1
  end
  return queue_rule().withdraw(key, value, clock(), remember, asked:sub(1, blank - 1))
end
