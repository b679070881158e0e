-- The attempt of a claim that can be answered by a lock's string. `now` and `time` are the including script's.

-- How many of `span` tickets from `first` on are behind the clock; one at the least.
local function behind(first, span)
  local room = time - first + 1
  return room < 1 and '0001' or room < span + 0 and ('%04d'):format(room) or span
end

-- Tickets for a new claim: the first, how many, and the last. They are the clock's last µs, as many as are asked for, or as
-- there are since the last ticket given. So whatever is made of them, none is shown before its time, and a key that lost its
-- data, of which nothing is known but the clock, begins above all of them.
-- What a quorum proposes is taken as it is, ahead of the clock if need be (then it is one ticket). But where nothing is known,
-- only if it is hardly behind the clock, so that servers whose clocks differ can agree on one number; an older one may be
-- below what was forgotten.
local function tickets(last, span, proposed)
  local first
  if proposed and (last or time - proposed < 1000000) then
    first = proposed + 0
  elseif not last then
    return now, '0001', time
  else
    first, proposed = time - span + 1, nil
  end
  if last and first <= last then first, proposed = last + 1, nil end
  local given = behind(first, span)
  return proposed or digits(first), given, first + given - 1
end

-- The same for a claim that is raised to what a quorum proposes. `last` is the last one it had.
local function raised(last, span, proposed)
  local given = behind(proposed, span)
  if proposed + given - 1 < last then given = ('%04d'):format(last - proposed + 1) end
  return proposed, given, proposed + given - 1
end

local function granted(ticket, span)
  return ticket .. ' ' .. now .. ' ' .. span
end

local function set_sole(lock, ticket, claim, span, keep)
  if ticket > now then keep = keep + math.ceil((ticket + span - time) / 1000) end
  redis.call('SET', lock, $sole{ticket, span, seen = now, words = claim}, 'PX', keep)
  return granted(ticket, span)
end

local function refused(ahead, lapse)
  return ('0 %s %d %d'):format(now, ahead, math.ceil((lapse - time) / 1000))
end

-- The attempt of a claim that met another one alone, which lives until `lapse`; or its own hold. nil: a line is needed.
local function beside(lock, value, lapse, claim, span, keep, queue, at_least)
  local id, take, of, ttl, channel, label = claim:match($claim[id, take, of, ttl, channel, label])
  local sole, taken, room = value:match($sole[id, take, of])
  if sole ~= id then
    if queue or take + taken <= math.min(of, room) then return nil end
    return refused(1, lapse)
  end
  local ticket, given = value:sub($sole.ticket), value:sub($sole.span)
  if at_least and at_least > ticket then ticket, given = raised(last_of(value), span, at_least) end
  -- Never sooner than a renewal confirmed.
  local left = math.ceil((lapse - time) / 1000)
  if left > tonumber(ttl) then claim, keep = $claim{id, take, of, ttl = left, channel, label}, keep + left - ttl end
  return set_sole(lock, ticket, claim, given, keep)
end

-- The claim's attempt if the lock's string is enough to answer it. nil: a line is needed.
local function alone(lock, value, claim, span, keep, queue, at_least)
  local kind = kind_of(value)
  if kind == $line then return nil end
  if kind == $sole then
    local ttl = value:match($sole[ttl])
    if not ttl then error(UNREADABLE, 0) end
    local lapse = value:sub($sole.seen) + ttl * 1000
    if lapse > time then return beside(lock, value, lapse, claim, span, keep, queue, at_least) end
  end
  local ticket, given = tickets(value and last_of(value), span, at_least)
  return set_sole(lock, ticket, claim, given, keep)
end
