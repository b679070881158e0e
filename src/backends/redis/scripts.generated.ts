// Generated from lua/*.lua by scripts/build-lua.mjs; edit those.

/** One constant script, run by its hash. */
export interface Script {
  readonly name: string;
  readonly sha1: string;
  readonly text: string;
}

const alone = `local function digits(micros)
  return ('%016.0f'):format(micros)
end
local now = digits(TIME[1] * 1000000 + TIME[2])
local function line_of(lock)
  return lock .. ':line'
end
local function claims_of(lock)
  return lock .. ':claims'
end
local UNREADABLE = 'HOLDFAST the key holds something else, or a format this version does not know'
local function kind_of(value)
  if not value then return '1 free ' end
  if value.err then error(value.err, 0) end
  local kind, last, span = value:match('^(1 %l%l%l%l )(%d+) (%d+)')
  if kind == '1 held ' then kind = '1 line ' end
  if kind ~= '1 free ' and kind ~= '1 sole ' and kind ~= '1 line ' or #last ~= 16 or #span ~= 4 then error(UNREADABLE, 0) end
  return kind
end
local OF_SERVER = { READONLY = 1, MISCONF = 1, NOREPLICAS = 1, LOADING = 1, MASTERDOWN = 1, CLUSTERDOWN = 1 }
local function safely(act, ...)
  local done, reply = pcall(act, ...)
  if done then return reply end
  local text = type(reply) == 'table' and reply.err or tostring(reply)
  local at, _, code = text:find('(%u%u%u%u%u+) ')
  if OF_SERVER[code] then return { err = text:sub(at) } end
  return '! ' .. text
end
local function behind(first, span)
  local room = now - first + 1
  return room < 1 and '0001' or room < span + 0 and ('%04d'):format(room) or span
end
local function tickets(last, span, proposed)
  local first
  if proposed and (last or now - proposed < 1000000) then
    first = proposed + 0
  elseif not last then
    return now, '0001', now
  else
    first = now - span + 1
  end
  if last and first <= last + 0 then first = last + 1 end
  local given = behind(first, span)
  return digits(first), given, digits(first + given - 1)
end
local function raised(last, span, proposed)
  local given = behind(proposed, span)
  if proposed + given - 1 < last + 0 then given = ('%04d'):format(last - proposed + 1) end
  return proposed, given, digits(proposed + given - 1)
end
local function last_of(value)
  local ticket, span = value:sub(8, 23), value:sub(25, 28)
  return span == '0001' and ticket or digits(ticket + span - 1)
end
local function set_free(lock, given, remember)
  local ahead = given:sub(1, 16) > now
  local set = ahead and redis.pcall('SET', lock, '1 free ' .. given, 'KEEPTTL')
    or redis.pcall('SET', lock, '1 free ' .. given, 'PX', remember)
  if set.err then redis.call('DEL', lock) end
end
local function set_sole(lock, ticket, claim, span, keep)
  if ticket > now then keep = keep + math.ceil((ticket + span - now) / 1000) end
  redis.call('SET', lock, '1 sole ' .. ticket .. ' ' .. span .. ' ' .. now .. ' ' .. claim, 'PX', keep)
  return ticket .. ' ' .. now .. ' ' .. span + 0
end
local function refused(ahead, lapse)
  return ('0 %s %d %d'):format(now, ahead, math.ceil((lapse - now) / 1000))
end
local function refusal(claim, sole, lapse)
  local take, of = claim:match('^%S+ (%d+) (%d+)')
  local taken, room = sole:match('^%S+ (%d+) (%d+)')
  if take + taken <= math.min(of, room) then return nil end
  return refused(1, lapse)
end
local function alone(lock, value, claim, span, keep, queue, at_least)
  local kind = kind_of(value)
  if kind == '1 line ' then return nil end
  if kind == '1 sole ' then
    local sole = value:sub(47)
    local id, ttl = sole:match('^(%S+) %d+ %d+ (%d+)')
    if not id then error(UNREADABLE, 0) end
    local lapse = value:sub(30, 45) + ttl * 1000
    if lapse > tonumber(now) then
      if claim:sub(1, #id + 1) ~= id .. ' ' then return not queue and refusal(claim, sole, lapse) or nil end
      local ticket, given = value:sub(8, 23), value:sub(25, 28)
      if at_least and at_least > ticket then ticket, given = raised(last_of(value), span, at_least) end
      local head, asked, rest = claim:match('^(%S+ %d+ %d+ )(%d+)(.*)$')
      local left = math.ceil((lapse - now) / 1000)
      if left > tonumber(asked) then claim, keep = head .. left .. rest, keep + left - asked end
      return set_sole(lock, ticket, claim, given, keep)
    end
  end
  local ticket, given = tickets(value and last_of(value), span, at_least)
  return set_sole(lock, ticket, claim, given, keep)
end`;

const attempt = `local function attempt(key, asked, keep_for, value)
  if now > asked:sub(1, 16) then return '-1 ' .. now end
  local at_least = asked:byte(17) ~= 45 and asked:sub(17, 32) or nil
  local queue, span, claim = asked:sub(33, 33) == '1', asked:sub(35, 38), asked:sub(40)
  local reply = alone(key, value, claim, span, keep_for, queue, at_least)
  if reply then return reply end
  open(key, value, keep_for - claim:match('^%S+ %d+ %d+ (%d+)'))
  return enter(claim, span, keep_for, queue, at_least)
end`;

const handover = `local function hand_over(key, value, now, remember)
  if value:sub(30, 45) <= now then return false end
  local line, claims = key .. ':line', key .. ':claims'
  local id = redis.call('ZRANGEBYSCORE', line, '(0', '+inf', 'LIMIT', 0, 1)[1]
  local record = id and redis.call('HGET', claims, id)
  if not record then return false end
  local take, of, ttl, channel = record:match('^%S+ (%d+) (%d+) (%d+) ([^%s?-]%S*)', 40)
  if not take or take ~= of then return false end
  local seen = record:sub(23, 38)
  local lapse = ('%016.0f'):format(seen + ttl * 1000)
  local gone, keep = value:match('^(%S+) (%d+)$', 47)
  if lapse <= now or lapse / 1000 + remember > keep + 0 then return false end
  redis.call('ZREM', line, gone)
  local heard = publish(channel, mail_of(channel, record, id, ttl))
  if type(heard) ~= 'number' or heard == 0 then
    redis.call('ZADD', line, '-' .. value:sub(30, 45), gone)
    return false
  end
  redis.call('HDEL', claims, gone)
  redis.call('ZADD', line, '-' .. lapse, id)
  redis.call('SET', key, value:sub(1, 29) .. lapse .. ' ' .. id .. ' ' .. keep, 'PXAT', keep)
  return true
end`;

const line = `local ALL = 2147483647
local SILENCE = 6000000
local steps_left = 50
local COUNTED = 500
local SPARE = 300000
local lock, line, claims
local last, taken, room, tight, keep, remember
local time = tonumber(now)
local far, soonest, empty
local more
local whole, until_when
local function seats_of(record)
  local take, of, ttl, channel = record:match('^%S+ (%d+) (%d+) (%d+) (%S+)', 40)
  return tonumber(take), tonumber(of), record:sub(23, 38) + ttl * 1000, channel
end
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
local function tell(id, record, lapse, channel)
  if channel == '-' then return true end
  local doubt, address = channel:match('^(%??)(.*)$')
  local good = math.floor((lapse - record:sub(23, 38)) / 1000)
  local heard = publish(address, mail_of(address, record, id, good))
  return heard ~= 0 or doubt == '?'
end
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
local function settle(me)
  sweep()
  local served = admit(me)
  empty = served and not soonest
  return served
end
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
end`;

const portion = `local PORTION = 500
local function portion(lock, place)
  local score, skipped = place:match('^h (%S+) (%d+)$')
  local found
  if place == '' or score then
    skipped = tonumber(skipped or 0)
    found = redis.call('ZREVRANGEBYSCORE', line_of(lock), score or 0, '-inf', 'WITHSCORES', 'LIMIT', skipped, PORTION)
    if #found < 2 * PORTION then return found, 'w 0' end
    local last = found[#found]
    local same = last == score and skipped or 0
    for i = #found, 2, -2 do
      if found[i] ~= last then break end
      same = same + 1
    end
    return found, ('h %s %d'):format(last, same)
  end
  found = redis.call('ZRANGEBYSCORE', line_of(lock), '(' .. place:sub(3), '+inf', 'WITHSCORES', 'LIMIT', 0, PORTION)
  return found, #found == 2 * PORTION and 'w ' .. found[#found] or nil
end`;

const publish = `local function publish(channel, mail)
  redis.set_repl(redis.REPL_NONE)
  local heard = redis.pcall('PUBLISH', channel, mail)
  redis.set_repl(redis.REPL_ALL)
  return heard
end
local function mail_of(channel, record, id, good)
  local mail = record:sub(1, 16) .. ' ' .. id .. ' ' .. good
  return channel:find(':mail:2:', 1, true) and mail .. ' ' .. record:sub(18, 21) or mail
end`;

const release = `local function release(key, asked, value)
  local id, remember = asked:match('^(%S+) (%d+)$')
  local kind = kind_of(value)
  if kind == '1 sole ' and value:sub(47, 47 + #id) == id .. ' ' then
    set_free(key, value:sub(8, 28), remember)
    return 1
  end
  if kind ~= '1 line ' then return 0 end
  open(key, value, remember)
  local freed = leave(id)
  settle()
  save()
  return freed + (more and 2 or 0)
end`;

const standing = `local function standing(held, record, holds_until)
  local take, of, ttl, label = record:match('^%S+ (%d+) (%d+) (%d+) %S+ (.*)$', 40)
  local lapse = holds_until or record:sub(23, 38) + ttl * 1000
  if lapse <= tonumber(now) then return nil end
  return ('%d %s %.0f %s %s '):format(held, record:sub(1, 16), lapse, take, of) .. label
end`;

export const ATTEMPT: Script = {
  name: 'attempt',
  sha1: '86d9ce298aec1b374d6b94f9d2696d125e3b31f3',
  text: `local TIME = redis.call('TIME')
local now = TIME[1] .. ('0'):rep(6 - #TIME[2]) .. TIME[2]
local replies, count, done, SECOND = nil, #ARGV / 2, 0, 1000000
for i = 1, count do
  local asked = ARGV[2 * i - 1]
  if #now ~= 16 or now > asked then break end
  local value = redis.pcall('GET', KEYS[i])
  local span, proposed, ticket, reply = asked:sub(35, 38), nil, now, nil
  if asked:byte(17) ~= 45 then proposed = asked:sub(17, 32) end
  if value then
    if #value ~= 28 or value:sub(1, 7) ~= '1 free ' then break end
    local free, first = value:sub(8, 23) + value:sub(25), proposed and proposed + 0 or now - span + 1
    if first < free then first, proposed = free, nil end
    local room = now - first + 1
    if room < 1 then break end
    ticket = proposed or ('%016.0f'):format(first)
    if room < span + 0 then
      span = ('%04d'):format(room)
      reply = ticket .. ' ' .. now .. ' ' .. room
    elseif proposed then
      reply = -now
    elseif room > span + 0 then
      reply = ticket .. ' ' .. now .. ' ' .. span
    else
      reply = tonumber(now)
    end
  elseif proposed and now - proposed < SECOND then
    if now - proposed + 1 < span + 0 then break end
    ticket, reply = proposed, -now
  else
    reply = span == '0001' and tonumber(now) or now .. ' ' .. now .. ' 1'
    span = '0001'
  end
  redis.call('SET', KEYS[i], '1 sole ' .. ticket .. ' ' .. span .. ' ' .. now .. asked:sub(39), 'PX', ARGV[2 * i])
  if count == 1 then return reply end
  replies = replies or {}
  replies[i], done = reply, i
end
if done == count then return replies end
replies = replies or {}
${alone}
${publish}
${line}
${attempt}
for i = done + 1, count do
  replies[i] = safely(attempt, KEYS[i], ARGV[2 * i - 1], ARGV[2 * i], redis.pcall('GET', KEYS[i]))
  if type(replies[i]) == 'table' then return replies[i] end
end
return count == 1 and replies[1] or replies`,
};

export const EVICT: Script = {
  name: 'evict',
  sha1: 'ebaefd55ed909b589714fa8600de7e77d883967f',
  text: `local TIME = redis.call('TIME')
${alone}
local value = redis.call('GET', KEYS[1])
local kind = kind_of(value)
if kind == '1 free ' then return 0 end
if kind == '1 sole ' then
  if value:sub(8, 23) ~= ARGV[1] then return 0 end
  set_free(KEYS[1], value:sub(8, 28), ARGV[3])
  return 1
end
${publish}
${line}
${portion}
local function evicted(id)
  local record = redis.call('HGET', claims_of(KEYS[1]), id)
  if not record or record:sub(1, 16) ~= ARGV[1] then return nil end
  open(KEYS[1], value, ARGV[3])
  local found = leave(id)
  settle()
  save()
  return found + (more and 2 or 0)
end
if ARGV[2] == '' then
  local waiter = redis.call('ZRANGEBYSCORE', line_of(KEYS[1]), ARGV[1], ARGV[1])[1]
  local found = waiter and evicted(waiter)
  if found then return found end
end
local holders, rest = portion(KEYS[1], ARGV[2])
for i = 1, #holders, 2 do
  local found = evicted(holders[i])
  if found then return found end
end
return rest and rest:sub(1, 1) == 'h' and rest or 0`,
};

export const INSPECT: Script = {
  name: 'inspect',
  sha1: '241e71bf179e553289af010e4ef528abaec00c22',
  text: `local TIME = redis.call('TIME')
${alone}
${standing}
${portion}
local value = redis.call('GET', KEYS[1])
local kind = kind_of(value)
if kind == '1 sole ' then return { now, '', standing(1, value:sub(8)) } end
if kind ~= '1 line ' then return { now, '' } end
local found, rest = portion(KEYS[1], ARGV[1])
local replies = { now, rest or '' }
for i = 1, #found, 2 do
  local score = tonumber(found[i + 1])
  local record = redis.call('HGET', claims_of(KEYS[1]), found[i])
  replies[#replies + 1] = record and standing(score < 0 and 1 or 0, record, score < 0 and -score or nil)
end
return replies`,
};

export const LIST: Script = {
  name: 'list',
  sha1: '4973403b627b47de4b2958e4c471143bcd042de7',
  text: `local TIME = redis.call('TIME')
${alone}
${standing}
local replies = { now }
local function look(key)
  local value = redis.pcall('GET', key)
  if not value or not value.err and value:sub(1, 7) == '1 free ' then return nil end
  if kind_of(value) == '1 line ' then return '' end
  return standing(1, value:sub(8))
end
for i, key in ipairs(KEYS) do
  local found = safely(look, key)
  if found then
    replies[#replies + 1] = i - 1
    replies[#replies + 1] = found
  end
end
return replies`,
};

export const PASS: Script = {
  name: 'pass',
  sha1: '2ae275db8b59ce719058398ba711d49defbe7ba4',
  text: `local TIME = redis.call('TIME')
${alone}
${publish}
${line}
${release}
${attempt}
local freed = safely(release, KEYS[1], ARGV[1], redis.pcall('GET', KEYS[1]))
if type(freed) == 'table' then return freed end
local reply = safely(attempt, KEYS[1], ARGV[2], ARGV[3], redis.pcall('GET', KEYS[1]))
return type(reply) == 'table' and reply or { freed, reply }`,
};

export const RELEASE: Script = {
  name: 'release',
  sha1: 'dc363c036f1f1c736914525b9e0818ee03a94ec2',
  text: `local TIME
local replies, count, done = nil, #ARGV, 0
for i = 1, count do
  local asked = ARGV[i]
  local value, at = redis.pcall('GET', KEYS[i]), asked:find(' ', 1, true)
  if not value or value.err or value:sub(47, 46 + at) ~= asked:sub(1, at) then break end
  local kind = value:sub(1, 7)
  if kind == '1 sole ' then
    if value:sub(8, 23) > value:sub(30, 45) then break end
    if redis.pcall('SET', KEYS[i], '1 free ' .. value:sub(8, 28), 'PX', asked:sub(at + 1)).err then break end
  else
    if kind ~= '1 held ' then break end
${publish}
${handover}
    TIME = TIME or redis.call('TIME')
    local readable, handed = pcall(hand_over, KEYS[i], value, TIME[1] .. ('0'):rep(6 - #TIME[2]) .. TIME[2], asked:sub(at + 1))
    if not readable or not handed then break end
  end
  if count == 1 then return 1 end
  replies = replies or {}
  replies[i], done = 1, i
end
if done == count then return replies end
TIME = TIME or redis.call('TIME')
replies = replies or {}
${alone}
${publish}
${line}
${release}
for i = done + 1, count do
  replies[i] = safely(release, KEYS[i], ARGV[i], redis.pcall('GET', KEYS[i]))
  if type(replies[i]) == 'table' then return replies[i] end
end
return count == 1 and replies[1] or replies`,
};

export const RENEW: Script = {
  name: 'renew',
  sha1: 'ea000c4ddc3ebbcaf2a86c5f12cb32ab1fd2ead4',
  text: `local TIME = redis.call('TIME')
local now = TIME[1] .. ('0'):rep(6 - #TIME[2]) .. TIME[2]
local terms = {}
local function terms_of(asked)
  local ttl, keep = asked:match('^(%d+) (%d+)$')
  local since, vanishes = ('%016.0f'):format(now - ttl * 1000), ('%.0f'):format(now / 1000 + keep)
  terms[asked] = { since = since, vanishes = vanishes }
  return terms[asked]
end
local replies, count, others = {}, #ARGV / 2, nil
for i = 1, count do
  local key, claim, asked = KEYS[i], ARGV[2 * i - 1], ARGV[2 * i]
  local value, wanted = redis.pcall('GET', key), terms[asked] or terms_of(asked)
  if value and not value.err and value:byte(3) == 115 and value:byte(1) == 49 and value:find(claim, 47, true) == 47
    and value:sub(30, 45) > wanted.since and value:sub(8, 23) <= now
    and redis.pcall('PEXPIREAT', key, wanted.vanishes) == 1 and redis.pcall('SETRANGE', key, '29', now) == #value then
    replies[i] = 1
  else
    others = others or {}
    others[#others + 1] = i
  end
end
if not others then return count == 1 and 1 or replies end
${alone}
${publish}
${line}
local function first_write(key, keep)
  redis.call('PEXPIREAT', key, math.ceil(now / 1000) + keep)
end
local function renew(key, claim, asked, value)
  local id = claim:match('^%S+')
  local ttl, keep_for = asked:match('^(%d+) (%d+)$')
  local kind = kind_of(value)
  local lapse = time + ttl * 1000
  if kind == '1 free ' then return 0 end
  if kind == '1 sole ' then
    local mine, seats, old, rest = value:match('^(%S+) (%d+ %d+) (%d+)(.*)$', 47)
    if mine ~= id or value:sub(30, 45) + old * 1000 <= time then return 0 end
    first_write(key, keep_for)
    set_sole(key, value:sub(8, 23), id .. ' ' .. seats .. ' ' .. ttl .. rest, value:sub(25, 28), keep_for)
    return 1
  end
  open(key, value, keep_for - ttl)
  local score = redis.call('ZSCORE', line, id)
  if not score or -tonumber(score) <= time then return 0 end
  first_write(key, keep_for)
  redis.call('ZADD', line, 'XX', -lapse, id)
  far = lapse
  if id == whole then until_when = lapse end
  save()
  return 1
end
local PORTION = 50
for n, i in ipairs(others) do
  replies[i] = n > PORTION and 2 or safely(renew, KEYS[i], ARGV[2 * i - 1], ARGV[2 * i], redis.pcall('GET', KEYS[i]))
  if type(replies[i]) == 'table' then return replies[i] end
end
return count == 1 and replies[1] or replies`,
};
