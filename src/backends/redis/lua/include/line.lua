-- The rule over a line of several (src/core/admission.ts): a claim is admitted when all seats taken up to and including it
-- fit the smallest room named among them. The admitted are a prefix, so what is known of them is a sum:
--   lock    1 line <last> 0001 <taken> <room> <tight> <keep>
--             taken   seats of all holders
--             room    the smallest room a holder named
--             tight   how many holders named it
--             keep    ms at which the three keys vanish
--           1 held <last> 0001 <lapse> <id> <keep>
--             the same where one holder leaves no room: it and its lapse are at hand, so that release.lua hands over at once
--   line    sorted set of ids: holders below zero, at minus their lapse; waiters above, at their ticket
--   claims  hash: id -> record

local ALL = 2147483647
-- Where to be unheard is no proof of death, silence is: µs without an attempt (PLACE_TTL of the contract). A grant told there
-- is good for no longer, until its process renews it: it may be dead.
local SILENCE = 6000000
-- How many one script may pass or admit, over all it is asked: a few ms of the server's time. The next one goes on from there.
-- Meanwhile too few are admitted, never too many.
local steps_left = 50
-- Holders that one script may count anew.
local COUNTED = 500
-- The keys are made to live longer in steps of this, ms.
local SPARE = 300000

local lock, line, claims
local last, taken, room, tight, keep, remember
local time = tonumber(now)
-- The latest lapse set here, the earliest among the holders, and whether nobody is left.
local far, soonest, empty
-- The portion was used up before all was done.
local more
-- The holder that leaves no room, and its lapse, if there is one.
local whole, until_when

local function seats_of(record)
  local take, of, ttl, channel = record:match('^%S+ (%d+) (%d+) (%d+) (%S+)', 40)
  return tonumber(take), tonumber(of), record:sub(23, 38) + ttl * 1000, channel
end

-- When a claim that waits is over, and when its hold will be if nothing but a mail tells it.
local function lapse_of(record, lapse, channel)
  return channel:sub(1, 1) == '?' and math.min(lapse, record:sub(23, 38) + SILENCE) or lapse
end

local function take_seats(take, of, id, lapse)
  if taken == 0 and take >= of then whole, until_when = id, lapse end
  taken = taken + take
  if of < room then room, tight = of, 0 end
  if of == room then tight = tight + 1 end
end

local function no_seats()
  taken, room, tight, whole = 0, ALL, 0, nil
end

-- The state, from what the lock's key says: `1 sole` or `1 line`.
local function open(lock_key, value, ms)
  lock, line, claims, remember = lock_key, line_of(lock_key), claims_of(lock_key), ms
  far, soonest, empty, whole, more = 0, nil, false, nil, false
  last = last_of(value)
  if value:sub(1, 7) == '1 sole ' then
    local record = value:sub(8)
    local take, of, lapse = seats_of(record)
    local id = record:match('^%S+', 40)
    keep, far = 0, lapse
    no_seats()
    take_seats(take, of, id, lapse)
    -- What a lock that was deleted by hand, or evicted, may have left: possibly much, which UNLINK frees behind the scenes.
    if type(redis.pcall('UNLINK', line, claims)) == 'table' then redis.call('DEL', line, claims) end
    redis.call('HSET', claims, id, record)
    redis.call('ZADD', line, -lapse, id)
    return
  end
  if value:sub(1, 7) == '1 held ' then
    local lapse, id, k = value:match('^(%d+) (%S+) (%d+)$', 30)
    keep = tonumber(k)
    if not keep then error(UNREADABLE, 0) end
    no_seats()
    take_seats(1, 1, id, tonumber(lapse))
    return
  end
  local t, r, n, k = value:match('^(%d+) (%d+) (%d+) (%d+)$', 30)
  taken, room, tight, keep = tonumber(t), tonumber(r), tonumber(n), tonumber(k)
  if not keep then error(UNREADABLE, 0) end
end

local function save()
  if empty then return set_free(lock, last .. ' 0001', remember) end
  local needed = math.max(far, tonumber(last)) / 1000 + remember
  if needed > keep then
    keep = math.ceil(needed + SPARE)
    redis.call('PEXPIREAT', line, keep)
    redis.call('PEXPIREAT', claims, keep)
  end
  local state = whole and ('1 held %s 0001 %016.0f %s %.0f'):format(last, until_when, whole, keep)
    or ('1 line %s 0001 %d %d %d %.0f'):format(last, taken, room, tight, keep)
  redis.call('SET', lock, state, 'PXAT', keep)
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
    if id == whole then no_seats() end
  end
  return lapse > time and 1 or 0
end

-- The sum anew: the last of those who named the smallest room has left. With many holders the smallest room stays until
-- there are fewer.
local function recount()
  local holders = redis.pcall('ZCOUNT', line, '-inf', '(0') -- an error where the user has the rights of an older version
  if type(holders) == 'number' and holders > COUNTED then return end
  no_seats()
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', line, '-inf', 0)) do
    local record = redis.call('HGET', claims, id)
    if record then
      local take, of, lapse = seats_of(record)
      take_seats(take, of, id, lapse)
    else
      redis.call('ZREM', line, id)
    end
  end
end

-- Holders whose lease is over leave. The sum starts from nothing whenever nobody holds, so that no damage to it lasts.
local function sweep()
  while true do
    local first = redis.call('ZREVRANGEBYSCORE', line, 0, '-inf', 'WITHSCORES', 'LIMIT', 0, 1)
    soonest = first[2] and -tonumber(first[2])
    if not soonest then return no_seats() end
    if soonest > time then break end
    more = steps_left < 1
    if more then return end
    steps_left = steps_left - 1
    leave(first[1])
  end
  if tight < 1 then recount() end
end

-- Tells a claim of its grant; false if its process is gone.
local function tell(id, record, lapse, channel)
  if channel == '-' then return true end
  local doubt, address = channel:match('^(%??)(.*)$')
  local good = math.floor((lapse - record:sub(23, 38)) / 1000)
  -- An error is a right that is missing: the claim will ask.
  local heard = publish(address, mail_of(address, record, id, good))
  return heard ~= 0 or doubt == '?'
end

-- Admits whomever the rule admits and tells them; `me` hears it from its own reply. True if nobody is left waiting.
local function admit(me)
  while not more do
    if taken >= room then return false end
    local id = redis.call('ZRANGEBYSCORE', line, '(0', '+inf', 'LIMIT', 0, 1)[1]
    if not id then return true end
    if steps_left < 1 then break end
    steps_left = steps_left - 1
    local record = redis.call('HGET', claims, id)
    local take, of, lapse, channel
    if record then
      take, of, lapse, channel = seats_of(record)
      if id ~= me then lapse = lapse_of(record, lapse, channel) end
    end
    local alive = record and (id == me or lapse > time)
    if alive and taken + take > math.min(room, of) then return false end
    if alive and (id == me or tell(id, record, lapse, channel)) then
      take_seats(take, of, id, lapse)
      far = math.max(far, lapse)
      soonest = math.min(soonest or lapse, lapse)
      redis.call('ZADD', line, -lapse, id)
    else
      leave(id)
    end
  end
  more = true
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
local function enter(claim, span, keep_for, queue, at_least)
  local id, take, of, ttl = claim:match('^(%S+) (%d+) (%d+) (%d+)')
  take, of = tonumber(take), tonumber(of)
  local served = settle(id)
  if empty then return alone(lock, '1 free ' .. last .. ' 0001', claim, span, keep_for, queue, at_least) end
  local record = redis.call('HGET', claims, id)
  local score = record and redis.call('ZSCORE', line, id)
  local ticket, given, final, held
  if score then
    ticket, given, held = record:sub(1, 16), record:sub(18, 21), tonumber(score) < 0
    if held and at_least and at_least > ticket then
      ticket, given, final = raised(ticket + given - 1, span, at_least)
      if final > last then last = final end
    end
  else
    held = served and taken + take <= math.min(room, of)
    ticket, given, final = tickets(last, span, at_least)
  end
  if held or queue then
    local lapse = time + ttl * 1000
    if held and score then lapse = math.max(lapse, -score) end -- never sooner than a renewal confirmed
    far = math.max(far, lapse)
    if held and not score then take_seats(take, of, id, lapse) end
    if id == whole then until_when = lapse end
    redis.call('HSET', claims, id, ticket .. ' ' .. given .. ' ' .. now .. ' ' .. claim)
    if held then
      redis.call('ZADD', line, -lapse, id)
    elseif not score then
      redis.call('ZADD', line, ticket, id)
    end
    if not score then last = final end
  elseif score then
    leave(id)
    settle()
  end
  save()
  if held then return ticket .. ' ' .. now .. ' ' .. given + 0 end
  if more then return '-2 ' .. now end
  local ahead = redis.call('ZRANK', line, id) or redis.call('ZCARD', line)
  return refused(ahead, soonest or time)
end
