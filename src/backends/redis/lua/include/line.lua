-- The rule over a line of several (src/core/contract/admission.ts): a claim is admitted when all units taken up to and including it
-- fit the smallest room named among them. The admitted are a prefix, so what is known of them is a sum, in the lock's string
-- (`line` and `held` of src/backends/redis/layout.ts). Besides it there are:
--   line    sorted set of ids: holders below zero, at minus their expiry; waiters above, at their token
--   claims  hash: id -> record
-- Defined where the first line of a script is met, since most scripts meet none.
local rule_of_line
local function line_rule()
  if rule_of_line then return rule_of_line end
  -- Wider than any room.
  local OPEN = 2147483648
  -- Where to be unheard is no proof of death, silence is: µs without an attempt (PLACE_TTL_MS of the contract). A grant told there
  -- is good for no longer, until its process renews it: it may be dead.
  local SILENCE = 6000000
  -- Holders that one script may count anew.
  local COUNTED = 500
  -- Rooms that are counted apart.
  local ROOMS = 8
  -- The keys are made to live longer in steps of this, ms.
  local SPARE = 300000
  -- How many one script may pass or admit, over all it is asked: a few ms of the server's time. The next one goes on from there.
  -- Meanwhile too few are admitted, never too many.
  local steps_left = 50

  local function seats_of(record)
    local units, capacity, ttl, channel = record:match($record[units, capacity, ttl, channel])
    return tonumber(units), tonumber(capacity), record:sub($record.seen) + ttl * 1000, channel
  end

  -- Where the widest that is not wider than this one stands among the rooms; -1 if they all are.
  local function place_of(rooms, capacity)
    local at = #rooms - 1
    while at > 0 and rooms[at] > capacity do at = at - 2 end
    return at
  end

  local function take_seats(line, units, capacity, id, expiry)
    if line.taken == 0 and units >= capacity then line.whole, line.whole_until = id, expiry end
    line.taken = line.taken + units
    local rooms = line.rooms
    local at = place_of(rooms, capacity)
    if rooms[at] == capacity then
      rooms[at + 1] = rooms[at + 1] + 1
      return
    end
    table.insert(rooms, at + 2, capacity)
    table.insert(rooms, at + 3, 1)
    if #rooms > 2 * ROOMS then
      -- Too small a room only admits fewer.
      local named = table.remove(rooms)
      table.remove(rooms)
      rooms[#rooms] = rooms[#rooms] + named
      line.exact = math.min(line.exact, rooms[#rooms - 1])
    end
    line.room = rooms[1]
  end

  local function no_seats(line)
    line.taken, line.rooms, line.room, line.exact, line.whole = 0, {}, OPEN, OPEN, nil
  end

  -- The line of a lock, from its string: `sole`, which becomes a line, or one already.
  local function open(lock, value, now, remember)
    local line = {
      lock = lock,
      places = lock .. ':line',
      claims = lock .. ':claims',
      time = tonumber(now),
      remember = remember,
      last = value:sub($line.token) + value:sub($line.tokenCount) - 1,
      taken = 0,
      rooms = {}, -- those that the holders named, the smallest first, and how many named each, in turn
      room = OPEN, -- the smallest
      exact = OPEN, -- below it the rooms are exact
      keep = 0, -- ms at which the three keys vanish
      far = 0, -- the latest expiry set here
      soonest = nil, -- the earliest among the holders
      whole = nil, -- the holder that leaves no room, if there is one
      whole_until = nil, -- its expiry
      empty = false, -- nobody is left
      more = false, -- the portion was used up before all was done
    }
    local kind = value:sub($line.kind)
    if kind == $held then
      local id, keep = value:match($held[id, keep])
      line.keep = tonumber(keep)
      take_seats(line, 1, 1, id, tonumber(value:sub($held.expiry)))
    elseif kind == $line then
      local taken, rooms, exact, keep = value:match($line[taken, rooms, exact, keep])
      line.taken, line.exact, line.keep = tonumber(taken), tonumber(exact), tonumber(keep)
      for number in (rooms or ''):gmatch('%d+') do line.rooms[#line.rooms + 1] = tonumber(number) end
      line.room = line.rooms[1] or OPEN
    else
      local record = value:sub($sole.token.at)
      local units, capacity, expiry = seats_of(record)
      local id = record:match($record[id])
      line.far = expiry
      take_seats(line, units, capacity, id, expiry)
      -- What a lock that was deleted by hand, or evicted, may have left: possibly much, which UNLINK frees behind the scenes.
      if type(redis.pcall('UNLINK', line.places, line.claims)) == 'table' then redis.call('DEL', line.places, line.claims) end
      redis.call('HSET', line.claims, id, record)
      redis.call('ZADD', line.places, -expiry, id)
    end
    if not line.keep then error(UNREADABLE, 0) end
    return line
  end

  local function free(line)
    return $free{token = $line.token.format(line.last), tokenCount = '0001'}
  end

  local function save(line)
    if line.empty then return set_free(line.lock, free(line), line.remember, line.last > line.time) end
    local last, rooms = $line.token.format(line.last), table.concat(line.rooms, ':')
    local needed = math.max(line.far, line.last) / 1000 + line.remember
    if needed > line.keep then
      line.keep = math.ceil(needed + SPARE)
      redis.call('PEXPIREAT', line.places, line.keep)
      redis.call('PEXPIREAT', line.claims, line.keep)
    end
    local state = line.whole and $held{token = last, tokenCount = '0001', expiry = $held.expiry.format(line.whole_until), id = line.whole, keep = line.keep}
      or $line{token = last, tokenCount = '0001', taken = line.taken, rooms, exact = line.exact, keep = line.keep}
    redis.call('SET', line.lock, state, 'PXAT', line.keep)
  end

  -- Removes a hold or a place; 1 if it was alive. The line is to be settled after it.
  local function leave(line, id)
    if id == line.whole then
      no_seats(line)
      redis.call('HDEL', line.claims, id)
      return redis.call('ZREM', line.places, id) == 1 and line.whole_until > line.time and 1 or 0
    end
    local score = redis.call('ZSCORE', line.places, id)
    local record = redis.call('HGET', line.claims, id)
    redis.call('ZREM', line.places, id)
    redis.call('HDEL', line.claims, id)
    if not score then return 0 end
    score = tonumber(score)
    if not record then
      line.exact = 0 -- damaged
      return 0
    end
    local units, capacity, expiry = seats_of(record)
    if score < 0 then
      expiry = -score
      line.taken = line.taken - units
      -- Where two rooms are counted as one, the wider one goes first, no matter which holder leaves. So each holder that stays has one
      -- here that is no wider than its own.
      local rooms = line.rooms
      local at = place_of(rooms, capacity)
      if at > 0 then rooms[at + 1] = rooms[at + 1] - 1 end
      if rooms[at + 1] == 0 then
        table.remove(rooms, at)
        table.remove(rooms, at)
        line.room = rooms[1] or OPEN
      end
    end
    return expiry > line.time and 1 or 0
  end

  -- Counts the sum and the rooms again, where the smallest may not be exact. With many holders both stay until there are fewer: the sum is
  -- too large, the room too small, if they are wrong.
  local function recount(line)
    local holders = redis.pcall('ZCOUNT', line.places, '-inf', '(0') -- an error where the user has the rights of an older version
    if type(holders) == 'number' and holders > COUNTED then return end
    no_seats(line)
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', line.places, '-inf', 0)) do
      local record = redis.call('HGET', line.claims, id)
      if record then
        local units, capacity, expiry = seats_of(record)
        take_seats(line, units, capacity, id, expiry)
      else
        redis.call('ZREM', line.places, id)
      end
    end
  end

  -- Holders whose lease is over leave. The sum starts from nothing whenever nobody holds, so that no damage to it lasts.
  local function sweep(line)
    -- No unit is taken where nobody holds: damage makes the sum too large, never too small.
    while line.taken > 0 do
      local first = redis.call('ZREVRANGEBYSCORE', line.places, 0, '-inf', 'WITHSCORES', 'LIMIT', 0, 1)
      line.soonest = first[2] and -tonumber(first[2])
      if not line.soonest then break end
      if line.soonest > line.time then
        if line.room >= line.exact then recount(line) end
        return
      end
      line.more = steps_left < 1
      if line.more then return end
      steps_left = steps_left - 1
      leave(line, first[1])
    end
    line.soonest = nil
    no_seats(line)
  end

  -- The kind of a channel: 3 is a sharded one. A prefix may look like a kind, too, so the last one counts.
  local function kind_of_channel(channel)
    return channel:match('.*:mail:(%d):')
  end

  -- Gives how many listen.
  local function send(address, mail)
    -- The server counts its own listeners only, but replicates a PUBLISH: who still listens at an old primary, a replica by now,
    -- would take for a grant what was counted as unheard, and given to the next one.
    redis.set_repl(redis.REPL_NONE)
    local heard = redis.pcall(kind_of_channel(address) == '3' and 'SPUBLISH' or 'PUBLISH', address, mail)
    redis.set_repl(redis.REPL_ALL)
    return heard
  end

  -- Whether the process of this channel may be dead, or may listen to it at another node. It listens to a sharded channel at one
  -- node: if that is this one, no other passes the message on. (An error is a right that is missing.)
  local function in_doubt(channel)
    if channel:byte() ~= 63 then return false end -- 63: ?
    local listeners = kind_of_channel(channel) == '3' and redis.pcall('PUBSUB', 'SHARDNUMSUB', channel:sub(2))[2]
    return (listeners or 0) == 0
  end

  -- Tells a claim of its grant: its token, its id, the ms it is good for since its last sign of life, and how many tokens from
  -- that one on are its own. The fourth is for those who read it: an older version takes no mail of four, names its channel
  -- otherwise, and was given all the tokens that it asked for. If the slot of a sharded channel has moved, the error means that
  -- the claim will ask. False if its process is gone.
  local function tell(id, record, expiry, channel)
    if channel == '-' then return true end
    local doubt, address = channel:match('^(%??)(.*)$')
    local good = math.floor((expiry - record:sub($record.seen)) / 1000)
    local mail = record:sub($record.token) .. ' ' .. id .. ' ' .. good
    if kind_of_channel(address) then mail = mail .. ' ' .. record:sub($record.tokenCount) end
    -- An error is a right that is missing: the claim will ask.
    return send(address, mail) ~= 0 or doubt == '?'
  end

  -- Admits whomever the rule admits and tells them; `me` hears it from its own reply. True if nobody is left waiting.
  local function admit(line, me)
    while not line.more do
      if line.taken >= line.room then return false end
      local id = redis.call('ZRANGEBYSCORE', line.places, '(0', '+inf', 'LIMIT', 0, 1)[1]
      if not id then return true end
      if steps_left < 1 then break end
      steps_left = steps_left - 1
      local record = redis.call('HGET', line.claims, id)
      local units, capacity, expiry, channel
      if record then
        units, capacity, expiry, channel = seats_of(record)
        -- When a claim that waits is over, and when its hold will be if nothing but a mail tells it.
        if id ~= me and in_doubt(channel) then expiry = math.min(expiry, record:sub($record.seen) + SILENCE) end
      end
      local alive = record and (id == me or expiry > line.time)
      if alive and line.taken + units > math.min(line.room, capacity) then return false end
      -- First, so that nobody is told of a grant that the server then refuses to write.
      if alive then redis.call('ZADD', line.places, -expiry, id) end
      if alive and (id == me or tell(id, record, expiry, channel)) then
        take_seats(line, units, capacity, id, expiry)
        line.far = math.max(line.far, expiry)
        line.soonest = math.min(line.soonest or expiry, expiry)
      else
        redis.call('ZREM', line.places, id)
        redis.call('HDEL', line.claims, id)
      end
    end
    line.more = true
    return false
  end

  -- After whatever may have changed the line. True if nobody is left waiting.
  local function settle(line, me)
    sweep(line)
    local served = admit(line, me)
    line.empty = served and not line.soonest
    return served
  end

  -- Gives up a hold or a place: 1 if there was one, 0 if not; 2 more where the portion was used up.
  local function withdraw(lock, value, now, remember, id)
    local line = open(lock, value, now, remember)
    local freed = leave(line, id)
    settle(line)
    save(line)
    return freed + (line.more and 2 or 0)
  end

  rule_of_line = {
    open = open, free = free, take_seats = take_seats, leave = leave, settle = settle, save = save, withdraw = withdraw,
    send = send,
  }
  return rule_of_line
end
