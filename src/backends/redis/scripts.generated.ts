// Generated from lua/*.lua by scripts/build-lua.mjs; edit those.

/** One constant script, run by its hash. */
export interface Script {
  readonly name: string;
  readonly sha1: string;
  readonly text: string;
}

const alone = `local DAY = 86400000
local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end
local function day_after(micros)
  return ('%.0f'):format(micros / 1000 + DAY)
end
local function unreadable()
  return redis.error_reply('HOLDFAST the key holds something else, or a format this version does not know')
end
local function set_free(lock, last, now)
  local done = redis.pcall('SET', lock, ('1 free %.0f'):format(last), 'PXAT', day_after(math.max(last, now)))
  if done.err then redis.call('DEL', lock) end
end
local function fits(claim, sole)
  local take, of = claim:match('^%S+ (%d+) (%d+)')
  local taken, room = sole:match('^%S+ (%d+) (%d+)')
  return take + taken <= math.min(of, room)
end
local function alone(lock, value, now, claim, span, queue, at_least)
  local id, ttl = claim:match('^(%S+) %d+ %d+ (%d+)')
  local lapse, joined = now + ttl * 1000, now
  local last, ticket = 0, nil
  if value then
    local kind, rest = value:match('^1 (%l+) ()')
    if kind == 'line' then return nil end
    if kind == 'free' then
      last = tonumber(value:sub(rest))
    elseif kind == 'sole' then
      local l, t, j, over, sole = value:match('^(%d+) (%d+) (%d+) (%d+) ()', rest)
      last = tonumber(l)
      if l and tonumber(over) > now then
        if value:match('^%S+', sole) == id then
          ticket, joined = math.max(tonumber(t), at_least), tonumber(j)
        elseif queue or fits(claim, value:sub(sole)) then
          return nil
        else
          return { 0, now, 1, math.ceil((over - now) / 1000) }
        end
      end
    else
      last = nil
    end
    if not last then return unreadable() end
  end
  ticket = ticket or math.max(last + 1, now, at_least)
  last = math.max(last, ticket + span - 1)
  redis.call(
    'SET', lock, ('1 sole %.0f %.0f %.0f %.0f %s'):format(last, ticket, joined, lapse, claim),
    'PXAT', day_after(math.max(lapse, last))
  )
  return { ticket, now }
end`;

const line = `local ALL = 2147483647
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
local function open(lock_key, line_key, claims_key, value)
  lock, line, claims = lock_key, line_key, claims_key
  far, soonest, empty = 0, nil, false
  local l, t, j, lapse, claim = value:match('^1 sole (%d+) (%d+) (%d+) (%d+) (.*)$')
  if l then
    local id, take, of = claim:match('^(%S+) (%d+) (%d+)')
    last, keep, far = tonumber(l), 0, tonumber(lapse)
    no_seats()
    take_seats(tonumber(take), tonumber(of))
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
local function recount()
  no_seats()
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', line, '-inf', 0)) do
    local record = redis.call('HGET', claims, id)
    if record then take_seats(seats_of(record)) else redis.call('ZREM', line, id) end
  end
end
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
local function settle(me)
  sweep()
  local served = admit(me)
  empty = served and not soonest
  return served
end
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
end`;

export const ATTEMPT: Script = {
  name: 'attempt',
  sha1: 'a25bd2f7f5cc176df2067f15dbbd1726b58069b4',
  text: `${alone}
local now = clock()
if now > tonumber(ARGV[2]) then return { -1, now } end
local value = redis.call('GET', KEYS[1])
local span, queue, at_least = tonumber(ARGV[3]), ARGV[4] == '1', tonumber(ARGV[5])
local reply = alone(KEYS[1], value, now, ARGV[1], span, queue, at_least)
if reply then return reply end
${line}
if not open(KEYS[1], KEYS[2], KEYS[3], value) then return unreadable() end
return enter(ARGV[1], span, queue, at_least)`,
};

export const EVICT: Script = {
  name: 'evict',
  sha1: 'bb42c836361fe962328a494d8eb68881b74431b2',
  text: `${alone}
local now = clock()
local value = redis.call('GET', KEYS[1])
if not value or value:sub(1, 7) == '1 free ' then return 0 end
local last, ticket = value:match('^1 sole (%d+) (%d+) ')
if last then
  if ticket ~= ARGV[1] then return 0 end
  set_free(KEYS[1], tonumber(last), now)
  return 1
end
${line}
if not open(KEYS[1], KEYS[2], KEYS[3], value) then return unreadable() end
local found = redis.call('HGETALL', claims)
for i = 1, #found, 2 do
  if found[i + 1]:match('^%d+') == ARGV[1] then
    local gone = leave(found[i])
    settle()
    save()
    return gone
  end
end
return 0`,
};

export const INSPECT: Script = {
  name: 'inspect',
  sha1: '7519b324e219c716c88b7444448b3f798bd6dbd2',
  text: `${alone}
local now = clock()
local value = redis.call('GET', KEYS[1])
local replies = { ('%.0f'):format(now) }
local function show(held, record, lapse)
  local ticket, joined, till, take, of, label = record:match('^(%d+) (%d+) (%d+) %S+ (%d+) (%d+) %d+ %S+ (.*)$')
  lapse = lapse or tonumber(till)
  if lapse <= now then return end
  replies[#replies + 1] = ('%d %s %s %.0f %s %s %s'):format(held, ticket, joined, lapse, take, of, label)
end
if not value or value:sub(1, 7) == '1 free ' then return replies end
local record = value:match('^1 sole %d+ (.*)$')
if record then
  show(1, record)
elseif value:sub(1, 7) == '1 line ' then
  local line = redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES')
  for i = 1, #line, 2 do
    local score = tonumber(line[i + 1])
    record = redis.call('HGET', KEYS[3], line[i])
    if record then show(score < 0 and 1 or 0, record, score < 0 and -score or nil) end
  end
else
  return unreadable()
end
return replies`,
};

export const RELEASE: Script = {
  name: 'release',
  sha1: '947d4b83bc476300193a78f57145efe5c0838903',
  text: `${alone}
local now = clock()
local value = redis.call('GET', KEYS[1])
local late = ARGV[3] and now > tonumber(ARGV[3])
local claim = not late and ARGV[2]
local span, queue, at_least = tonumber(ARGV[4]), ARGV[5] == '1', tonumber(ARGV[6])
local function answer(freed, reply)
  if late then return { freed, -1, now } end
  if not reply then return { freed } end
  if reply.err then return reply end
  return { freed, unpack(reply) }
end
local kind, last, lapse, holder = (value or '1 free 0'):match('^1 (%l+) (%d+) ?%d* ?%d* ?(%d*) ?(%S*)')
if not kind then return unreadable() end
if kind == 'sole' and holder == ARGV[1] then
  local freed = tonumber(lapse) > now and 1 or 0
  if claim then return answer(freed, alone(KEYS[1], '1 free ' .. last, now, claim, span, queue, at_least)) end
  set_free(KEYS[1], tonumber(last), now)
  return answer(freed)
end
if kind ~= 'line' then
  local reply = claim and alone(KEYS[1], value, now, claim, span, queue, at_least)
  if reply or not claim then return answer(0, reply) end
end
${line}
if not open(KEYS[1], KEYS[2], KEYS[3], value) then return unreadable() end
local freed = leave(ARGV[1])
if claim then return answer(freed, enter(claim, span, queue, at_least)) end
settle()
save()
return answer(freed)`,
};

export const RENEW: Script = {
  name: 'renew',
  sha1: 'b4a15b07848f330f5a4d2c812a3411f9765ffcab',
  text: `${alone}
local now = clock()
${line}
local function first_write(key, lapse)
  redis.call('PEXPIREAT', key, day_after(lapse))
end
local function renew(lock_key, line_key, claims_key, id, lapse)
  local value = redis.pcall('GET', lock_key)
  if not value then return 0 end
  if value.err then return -1 end
  local head, old, rest = value:match('^(1 sole %d+ %d+ %d+) (%d+) (.*)$')
  if head then
    if rest:match('^%S+') ~= id or tonumber(old) <= now then return 0 end
    first_write(lock_key, lapse)
    redis.call('SET', lock_key, ('%s %.0f %s'):format(head, lapse, rest), 'PXAT', day_after(lapse))
    return 1
  end
  if value:sub(1, 7) == '1 free ' then return 0 end
  if value:sub(1, 7) ~= '1 line ' or not open(lock_key, line_key, claims_key, value) then return -1 end
  local score = redis.pcall('ZSCORE', line_key, id)
  if not score then return 0 end
  if type(score) == 'table' then return -1 end
  if -tonumber(score) <= now then return 0 end
  first_write(lock_key, lapse)
  redis.call('ZADD', line_key, 'XX', -lapse, id)
  far = lapse
  save()
  return 1
end
local replies = {}
for i = 1, #ARGV / 2 do
  replies[i] = renew(KEYS[3 * i - 2], KEYS[3 * i - 1], KEYS[3 * i], ARGV[2 * i - 1], now + ARGV[2 * i] * 1000)
end
return replies`,
};
