-- The rule over a line of several (src/core/admission.ts): a claim is admitted when all seats taken up to and including it
-- fit the smallest room named among them. The admitted are a prefix, so what is known of them is a sum:
--   taken   seats of all holders
--   room    the smallest room a holder named
--   tight   how many holders named it
--   keep    ms at which the three keys vanish
--   line    sorted set: holders below zero, at minus their lapse; waiters above, at their ticket
--   claims  hash: id -> <ticket> <joined> <lapse of the place> <claim>
-- A mail of a grant is <ticket> <id>, on the channel the claim named. `now` is the including script's.

local ALL = 2147483647
-- Places that one script may pass; the next attempt goes on from there.
local MANY = 10000

local lock, line, claims
local last, taken, room, tight, keep
local far, soonest, empty

local function seats_of(record)
  local ticket, lapse, take, of, channel = record:match('^(%d+) %d+ (%d+) %S+ (%d+) (%d+) %d+ (%S+)')
  return tonumber(take), tonumber(of), tonumber(lapse), ticket, channel
end

local function record_of(ticket, joined, lapse, claim)
  return ('%.0f %.0f %.0f %s'):format(ticket, joined, lapse, claim)
end

local function take_seats(take, of)
  taken = taken + take
  if of < room then room, tight = of, 0 end
  if of == room then tight = tight + 1 end
end

local function no_seats()
  taken, room, tight = 0, ALL, 0
end

-- The state, from what the lock's key says; false if it is not ours.
local function open(lock_key, line_key, claims_key, value)
  lock, line, claims = lock_key, line_key, claims_key
  far, soonest, empty = 0, nil, false
  local l, t, j, lapse, claim = value:match('^1 sole (%d+) (%d+) (%d+) (%d+) (.*)$')
  if l then
    local id, take, of = claim:match('^(%S+) (%d+) (%d+)')
    last, keep, far = tonumber(l), 0, tonumber(lapse)
    no_seats()
    take_seats(tonumber(take), tonumber(of))
    -- What a lock that was deleted by hand, or evicted, may have left.
    redis.call('DEL', line, claims)
    redis.call('HSET', claims, id, record_of(t, j, far, claim))
    redis.call('ZADD', line, -far, id)
    return true
  end
  l, t, j, lapse, claim = value:match('^1 line (%d+) (%d+) (%d+) (%d+) (%d+)$')
  if not l then return false end
  last, taken, room, tight, keep = tonumber(l), tonumber(t), tonumber(j), tonumber(lapse), tonumber(claim)
  return true
end

local function save()
  if empty then return set_free(lock, last, now) end
  local needed = math.max(far, last) / 1000 + DAY / 2
  if needed > keep then
    keep = needed + DAY / 2
    local text = ('%.0f'):format(keep)
    redis.call('PEXPIREAT', line, text)
    redis.call('PEXPIREAT', claims, text)
  end
  redis.call(
    'SET', lock, ('1 line %.0f %.0f %.0f %.0f %.0f'):format(last, taken, room, tight, keep),
    'PXAT', ('%.0f'):format(keep)
  )
end

-- Removes a hold or a place; 1 if it was alive. The line is to be settled after it.
local function leave(id)
  local score = redis.call('ZSCORE', line, id)
  local record = redis.call('HGET', claims, id)
  redis.call('ZREM', line, id)
  redis.call('HDEL', claims, id)
  if not score then return 0 end
  score = tonumber(score)
  if not record then
    tight = 0 -- damaged: count anew
    return 0
  end
  local take, of, lapse = seats_of(record)
  if score < 0 then
    lapse = -score
    taken = taken - take
    if of == room then tight = tight - 1 end
  end
  return lapse > now and 1 or 0
end

-- The sum anew: the last of those who named the smallest room has left.
local function recount()
  no_seats()
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', line, '-inf', 0)) do
    local record = redis.call('HGET', claims, id)
    if record then take_seats(seats_of(record)) else redis.call('ZREM', line, id) end
  end
end

-- Holders whose lease is over leave. The sum starts from nothing whenever nobody holds, so that no damage to it lasts.
local function sweep()
  for _ = 1, MANY do
    local first = redis.call('ZREVRANGEBYSCORE', line, 0, '-inf', 'WITHSCORES', 'LIMIT', 0, 1)
    soonest = first[2] and -tonumber(first[2])
    if not soonest then return no_seats() end
    if soonest > now then break end
    leave(first[1])
  end
  if tight < 1 then recount() end
end

-- Admits whomever the rule admits and tells them; `me` hears it from its own reply. True if nobody is left waiting.
local function admit(me)
  for _ = 1, MANY do
    if taken >= room then return false end
    local id = redis.call('ZRANGEBYSCORE', line, '(0', '+inf', 'LIMIT', 0, 1)[1]
    if not id then return true end
    local record = redis.call('HGET', claims, id)
    local take, of, lapse, ticket, channel
    if record then take, of, lapse, ticket, channel = seats_of(record) end
    local alive = record and (id == me or lapse > now)
    if alive and taken + take > math.min(room, of) then return false end
    if alive and id ~= me and channel ~= '-' then
      local doubt, address = channel:match('^(%??)(.*)$')
      local heard = redis.pcall('PUBLISH', address, ticket .. ' ' .. id)
      -- Nobody listens: the process is gone. Not allowed to publish: it will ask.
      if doubt == '' and heard == 0 then alive = false end
    end
    if alive then
      take_seats(take, of)
      far = math.max(far, lapse)
      soonest = math.min(soonest or lapse, lapse)
      redis.call('ZADD', line, -lapse, id)
    else
      leave(id)
    end
  end
  return false
end

-- After whatever may have changed the line. True if nobody is left waiting.
local function settle(me)
  sweep()
  local served = admit(me)
  empty = served and not soonest
  return served
end

-- The claim's attempt: its hold or its place as it stands, or a new one at the end.
local function enter(claim, span, queue, at_least)
  local id, take, of, ttl = claim:match('^(%S+) (%d+) (%d+) (%d+)')
  take, of = tonumber(take), tonumber(of)
  local served = settle(id)
  if empty then return alone(lock, ('1 free %.0f'):format(last), now, claim, span, queue, at_least) end
  local lapse = now + ttl * 1000
  local record = redis.call('HGET', claims, id)
  local score = record and redis.call('ZSCORE', line, id)
  local ticket, joined, held
  if score then
    ticket, joined = record:match('^(%d+) (%d+)')
    held = tonumber(score) < 0
  else
    ticket, joined = math.max(last + 1, now, at_least), now
    held = served and taken + take <= math.min(room, of)
    if held then take_seats(take, of) end
  end
  if held or queue then
    last = math.max(last, ticket + span - 1)
    far = math.max(far, lapse)
    redis.call('HSET', claims, id, record_of(ticket, joined, lapse, claim))
    if held or not score then redis.call('ZADD', line, held and -lapse or ('%.0f'):format(ticket), id) end
  elseif score then
    leave(id)
    settle()
  end
  save()
  if held then return { tonumber(ticket), now } end
  local ahead = redis.call('ZRANK', line, id) or redis.call('ZCARD', line)
  return { 0, now, ahead, math.ceil(((soonest or now) - now) / 1000) }
end
