-- The attempt of a claim where somebody is there. Defined where the first such claim of a script is met.
local function contention()
  local rule = line_rule()

  local function refused(ahead, expiry)
    return ('0 %s %d %d'):format(now, ahead, math.ceil((expiry - time) / 1000))
  end

  -- Tokens for a claim that is raised to what a quorum proposes, where that is more: the first, how many, and the last.
  local function raised(token, tokenCount, asked)
    local last = token + tokenCount - 1
    if asked:byte($asked.minToken.at) == 45 or asked:sub($asked.minToken) <= token then return token, tokenCount, last end
    local proposed = asked:sub($asked.minToken)
    local given = behind(proposed, asked:sub($asked.tokenCount))
    if proposed + given - 1 < last then given = $sole.tokenCount.format(last - proposed + 1) end
    return proposed, given, proposed + given - 1
  end

  -- It is alone there itself, until `expiry`.
  local function again(lock, value, expiry, asked, keep)
    local id, units, capacity, ttl, channel, label = asked:match($asked[id, units, capacity, ttl, channel, label])
    local token, tokenCount = raised(value:sub($sole.token), value:sub($sole.tokenCount), asked)
    -- Never sooner than a renewal confirmed.
    local left = math.max(ttl, math.ceil((expiry - time) / 1000))
    return set_sole(lock, token, tokenCount, $claim{id, units, capacity, ttl = left, channel, label}, keep + left - ttl)
  end

  -- Its hold or its place in a line as it stands, or a new one at the end.
  local function enter(line, asked, keep)
    local id, units, capacity, ttl = asked:match($asked[id, units, capacity, ttl])
    local seats, room, queue = tonumber(units), tonumber(capacity), asked:sub($asked.queue) == '1'
    local served = rule.settle(line, id)
    if line.empty then return take(line.lock, rule.free(line), asked, keep) end
    local record = redis.call('HGET', line.claims, id)
    local score = record and redis.call('ZSCORE', line.places, id)
    local token, tokenCount, final, held
    if score then
      token, tokenCount, held = record:sub($record.token), record:sub($record.tokenCount), tonumber(score) < 0
      if held then
        token, tokenCount, final = raised(token, tokenCount, asked)
        line.last = math.max(line.last, final)
      end
    else
      held = served and line.taken + seats <= math.min(line.room, room)
      token, tokenCount, final = tokens(line.last, asked)
    end
    if held or queue then
      local expiry = time + ttl * 1000
      if held and score then expiry = math.max(expiry, -score) end -- never sooner than a renewal confirmed
      line.far = math.max(line.far, expiry)
      if held and not score then rule.take_seats(line, seats, room, id, expiry) end
      if id == line.whole then line.whole_until = expiry end
      redis.call('HSET', line.claims, id, $record{token, tokenCount, seen = now, words = asked:sub($asked.words)})
      if held then
        redis.call('ZADD', line.places, -expiry, id)
      elseif not score then
        redis.call('ZADD', line.places, token, id)
      end
      if not score then line.last = final end
    elseif score then
      rule.leave(line, id)
      rule.settle(line)
    end
    rule.save(line)
    if held then return token .. ' ' .. now .. ' ' .. tokenCount end
    if line.more then return '-2 ' .. now end
    local ahead = redis.call('ZRANK', line.places, id) or redis.call('ZCARD', line.places)
    return refused(ahead, line.soonest or time)
  end

  return function(lock, value, sole_until, asked, keep)
    local id, seats, capacity, ttl = asked:match($asked[id, units, capacity, ttl])
    if sole_until then
      local sole, taken, room = value:match($sole[id, units, capacity])
      if sole == id then return again(lock, value, sole_until, asked, keep) end
      local fits = seats + taken <= math.min(capacity, room)
      if not fits and asked:sub($asked.queue) == '0' then return refused(1, sole_until) end
    end
    return enter(rule.open(lock, value, now, keep - ttl), asked, keep)
  end
end

local contend
