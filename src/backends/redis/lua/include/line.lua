-- The rule over a line of several (src/core/admission.ts): a claim is admitted when all seats taken up to and including it
-- fit the smallest room named among them. The admitted are a prefix, so what is known of them is a sum, in the lock's string
-- (`line` and `held` of src/backends/redis/layout.ts). Besides it there are:
--   line    sorted set of ids: holders below zero, at minus their lapse; waiters above, at their ticket
--   claims  hash: id -> record
-- Defined where the first line of a script is met, since most scripts meet none.
local function line_rule()
  local ALL = 2147483647
  -- Where to be unheard is no proof of death, silence is: µs without an attempt (PLACE_TTL of the contract). A grant told there
  -- is good for no longer, until its process renews it: it may be dead.
  local SILENCE = 6000000
  -- Holders that one script may count anew.
  local COUNTED = 500
  -- The keys are made to live longer in steps of this, ms.
  local SPARE = 300000
  -- How many one script may pass or admit, over all it is asked: a few ms of the server's time. The next one goes on from there.
  -- Meanwhile too few are admitted, never too many.
  local steps_left = 50

  local Line = {}
  Line.__index = Line

  local function seats_of(record)
    local take, of, ttl, channel = record:match($record[take, of, ttl, channel])
    return tonumber(take), tonumber(of), record:sub($record.seen) + ttl * 1000, channel
  end

  function Line:take_seats(take, of, id, lapse)
    if self.taken == 0 and take >= of then self.whole, self.whole_until = id, lapse end
    self.taken = self.taken + take
    if of < self.room then self.room, self.tight = of, 0 end
    if of == self.room then self.tight = self.tight + 1 end
  end

  function Line:no_seats()
    self.taken, self.room, self.tight, self.whole = 0, ALL, 0, nil
  end

  -- What a lock of one claim has becomes a line of one.
  function Line:begin(record)
    local take, of, lapse = seats_of(record)
    local id = record:match($record[id])
    self.keep, self.far = 0, lapse
    self:no_seats()
    self:take_seats(take, of, id, lapse)
    -- What a lock that was deleted by hand, or evicted, may have left: possibly much, which UNLINK frees behind the scenes.
    if type(redis.pcall('UNLINK', self.line, self.claims)) == 'table' then redis.call('DEL', self.line, self.claims) end
    redis.call('HSET', self.claims, id, record)
    redis.call('ZADD', self.line, -lapse, id)
  end

  function Line:read(value)
    if value:sub($held.kind) == $held then
      local id, keep = value:match($held[id, keep])
      self.keep = tonumber(keep)
      if not self.keep then error(UNREADABLE, 0) end
      self:no_seats()
      self:take_seats(1, 1, id, tonumber(value:sub($held.lapse)))
      return
    end
    local taken, room, tight, keep = value:match($line[taken, room, tight, keep])
    self.taken, self.room, self.tight, self.keep = tonumber(taken), tonumber(room), tonumber(tight), tonumber(keep)
    if not self.keep then error(UNREADABLE, 0) end
  end

  function Line:save()
    local last = digits(self.last)
    if self.empty then
      return set_free(self.lock, $free{ticket = last, span = '0001'}, self.remember, self.last > self.time)
    end
    local needed = math.max(self.far, self.last) / 1000 + self.remember
    if needed > self.keep then
      self.keep = math.ceil(needed + SPARE)
      redis.call('PEXPIREAT', self.line, self.keep)
      redis.call('PEXPIREAT', self.claims, self.keep)
    end
    local state = self.whole and $held{ticket = last, span = '0001', lapse = digits(self.whole_until), id = self.whole, keep = self.keep}
      or $line{ticket = last, span = '0001', taken = self.taken, room = self.room, tight = self.tight, keep = self.keep}
    redis.call('SET', self.lock, state, 'PXAT', self.keep)
  end

  -- Removes a hold or a place; 1 if it was alive. The line is to be settled after it.
  function Line:leave(id)
    if id == self.whole then
      self:no_seats()
      redis.call('HDEL', self.claims, id)
      return redis.call('ZREM', self.line, id) == 1 and self.whole_until > self.time and 1 or 0
    end
    local score = redis.call('ZSCORE', self.line, id)
    local record = redis.call('HGET', self.claims, id)
    redis.call('ZREM', self.line, id)
    redis.call('HDEL', self.claims, id)
    if not score then return 0 end
    score = tonumber(score)
    if not record then
      self.tight = 0 -- damaged: count anew
      return 0
    end
    local take, of, lapse = seats_of(record)
    if score < 0 then
      lapse = -score
      self.taken = self.taken - take
      if of == self.room then self.tight = self.tight - 1 end
    end
    return lapse > self.time and 1 or 0
  end

  -- The sum anew: the last of those who named the smallest room has left. With many holders the smallest room stays until
  -- there are fewer.
  function Line:recount()
    local holders = redis.pcall('ZCOUNT', self.line, '-inf', '(0') -- an error where the user has the rights of an older version
    if type(holders) == 'number' and holders > COUNTED then return end
    self:no_seats()
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', self.line, '-inf', 0)) do
      local record = redis.call('HGET', self.claims, id)
      if record then
        local take, of, lapse = seats_of(record)
        self:take_seats(take, of, id, lapse)
      else
        redis.call('ZREM', self.line, id)
      end
    end
  end

  -- Holders whose lease is over leave. The sum starts from nothing whenever nobody holds, so that no damage to it lasts.
  function Line:sweep()
    -- No seat is taken where nobody holds: damage makes the sum too large, never too small.
    while self.taken > 0 do
      local first = redis.call('ZREVRANGEBYSCORE', self.line, 0, '-inf', 'WITHSCORES', 'LIMIT', 0, 1)
      self.soonest = first[2] and -tonumber(first[2])
      if not self.soonest then break end
      if self.soonest > self.time then
        if self.tight < 1 then self:recount() end
        return
      end
      self.more = steps_left < 1
      if self.more then return end
      steps_left = steps_left - 1
      self:leave(first[1])
    end
    self.soonest = nil
    self:no_seats()
  end

  -- Tells a claim of its grant: its ticket, its id, the ms it is good for since its last sign of life, and how many tickets from
  -- that one on are its own. The fourth is for those who read it: an older version takes no mail of four, names its channel
  -- otherwise, and was given all the tickets that it asked for. False if its process is gone.
  local function tell(id, record, lapse, channel)
    if channel == '-' then return true end
    local doubt, address = channel:match('^(%??)(.*)$')
    local good = math.floor((lapse - record:sub($record.seen)) / 1000)
    local mail = record:sub($record.ticket) .. ' ' .. id .. ' ' .. good
    if address:find(':mail:2:', 1, true) then mail = mail .. ' ' .. record:sub($record.span) end
    -- The server counts its own listeners only, but replicates a PUBLISH: who still listens at an old primary, a replica by now,
    -- would take for a grant what was counted as unheard, and given to the next one.
    redis.set_repl(redis.REPL_NONE)
    local heard = redis.pcall('PUBLISH', address, mail)
    redis.set_repl(redis.REPL_ALL)
    -- An error is a right that is missing: the claim will ask.
    return heard ~= 0 or doubt == '?'
  end

  -- Admits whomever the rule admits and tells them; `me` hears it from its own reply. True if nobody is left waiting.
  function Line:admit(me)
    while not self.more do
      if self.taken >= self.room then return false end
      local id = redis.call('ZRANGEBYSCORE', self.line, '(0', '+inf', 'LIMIT', 0, 1)[1]
      if not id then return true end
      if steps_left < 1 then break end
      steps_left = steps_left - 1
      local record = redis.call('HGET', self.claims, id)
      local take, of, lapse, channel
      if record then
        take, of, lapse, channel = seats_of(record)
        -- When a claim that waits is over, and when its hold will be if nothing but a mail tells it.
        if id ~= me and channel:sub(1, 1) == '?' then lapse = math.min(lapse, record:sub($record.seen) + SILENCE) end
      end
      local alive = record and (id == me or lapse > self.time)
      if alive and self.taken + take > math.min(self.room, of) then return false end
      if alive and (id == me or tell(id, record, lapse, channel)) then
        self:take_seats(take, of, id, lapse)
        self.far = math.max(self.far, lapse)
        self.soonest = math.min(self.soonest or lapse, lapse)
        redis.call('ZADD', self.line, -lapse, id)
      else
        self:leave(id)
      end
    end
    self.more = true
    return false
  end

  -- After whatever may have changed the line. True if nobody is left waiting.
  function Line:settle(me)
    self:sweep()
    local served = self:admit(me)
    self.empty = served and not self.soonest
    return served
  end

  return Line
end

local Line

-- The line of a lock, from its string: `sole`, which becomes a line, or one already.
--   far          the latest lapse set here
--   soonest      the earliest among the holders
--   empty        nobody is left
--   more         the portion was used up before all was done
--   whole        the holder that leaves no room, if there is one; whole_until, its lapse
local function open(lock, value, now, remember)
  Line = Line or line_rule()
  local line = setmetatable({
    lock = lock, line = line_of(lock), claims = claims_of(lock), time = tonumber(now), remember = remember, last = last_of(value),
    far = 0, empty = false, more = false,
  }, Line)
  if value:sub($sole.kind) == $sole then
    line:begin(value:sub($sole.ticket.at))
  else
    line:read(value)
  end
  return line
end
