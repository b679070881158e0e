// Generated from lua/*.lua by scripts/build-lua.mjs; edit those.

/** One constant script, run by its hash. */
export interface Script {
  readonly name: string;
  readonly sha1: string;
  readonly text: string;
}

const alone = `local function behind(first, span)
  local room = time - first + 1
  return room < 1 and '0001' or room < span + 0 and ('%04d'):format(room) or span
end
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
  redis.call('SET', lock, '1 sole ' .. ticket .. ' ' .. span .. ' ' .. now .. ' ' .. claim, 'PX', keep)
  return granted(ticket, span)
end
local function refused(ahead, lapse)
  return ('0 %s %d %d'):format(now, ahead, math.ceil((lapse - time) / 1000))
end
local function beside(lock, value, lapse, claim, span, keep, queue, at_least)
  local id, take, of, ttl, channel, label = claim:match('^(%S+) (%d+) (%d+) (%d+) (%S+) (.*)$', 1)
  local sole, taken, room = value:match('^(%S+) (%d+) (%d+)', 47)
  if sole ~= id then
    if queue or take + taken <= math.min(of, room) then return nil end
    return refused(1, lapse)
  end
  local ticket, given = value:sub(8, 23), value:sub(25, 28)
  if at_least and at_least > ticket then ticket, given = raised(last_of(value), span, at_least) end
  local left = math.ceil((lapse - time) / 1000)
  if left > tonumber(ttl) then claim, keep = id .. ' ' .. take .. ' ' .. of .. ' ' .. left .. ' ' .. channel .. ' ' .. label, keep + left - ttl end
  return set_sole(lock, ticket, claim, given, keep)
end
local function alone(lock, value, claim, span, keep, queue, at_least)
  local kind = kind_of(value)
  if kind == '1 line' then return nil end
  if kind == '1 sole' then
    local ttl = value:match('^%S+ %d+ %d+ (%d+)', 47)
    if not ttl then error(UNREADABLE, 0) end
    local lapse = value:sub(30, 45) + ttl * 1000
    if lapse > time then return beside(lock, value, lapse, claim, span, keep, queue, at_least) end
  end
  local ticket, given = tickets(value and last_of(value), span, at_least)
  return set_sole(lock, ticket, claim, given, keep)
end`;

const attempt = `local function enter(line, claim, span, keep, queue, at_least)
  local id, take, of, ttl = claim:match('^(%S+) (%d+) (%d+) (%d+)', 1)
  take, of = tonumber(take), tonumber(of)
  local served = line:settle(id)
  if line.empty then
    return alone(line.lock, '1 free ' .. digits(line.last) .. ' ' .. '0001', claim, span, keep, queue, at_least)
  end
  local record = redis.call('HGET', line.claims, id)
  local score = record and redis.call('ZSCORE', line.line, id)
  local ticket, given, final, held
  if score then
    ticket, given, held = record:sub(1, 16), record:sub(18, 21), tonumber(score) < 0
    if held and at_least and at_least > ticket then
      ticket, given, final = raised(ticket + given - 1, span, at_least)
      line.last = math.max(line.last, final)
    end
  else
    held = served and line.taken + take <= math.min(line.room, of)
    ticket, given, final = tickets(line.last, span, at_least)
  end
  if held or queue then
    local lapse = time + ttl * 1000
    if held and score then lapse = math.max(lapse, -score) end -- never sooner than a renewal confirmed
    line.far = math.max(line.far, lapse)
    if held and not score then line:take_seats(take, of, id, lapse) end
    if id == line.whole then line.whole_until = lapse end
    redis.call('HSET', line.claims, id, ticket .. ' ' .. given .. ' ' .. now .. ' ' .. claim)
    if held then
      redis.call('ZADD', line.line, -lapse, id)
    elseif not score then
      redis.call('ZADD', line.line, ticket, id)
    end
    if not score then line.last = final end
  elseif score then
    line:leave(id)
    line:settle()
  end
  line:save()
  if held then return granted(ticket, given) end
  if line.more then return '-2 ' .. now end
  local ahead = redis.call('ZRANK', line.line, id) or redis.call('ZCARD', line.line)
  return refused(ahead, line.soonest or time)
end
local function attempt(key, asked, keep)
  if now > asked:sub(1, 16) then return '-1 ' .. now end
  local span, claim, queue = asked:sub(37, 40), asked:sub(42), asked:sub(35, 35) == '1'
  local at_least = asked:byte(18) ~= 45 and asked:sub(18, 33) or nil -- 45: a dash
  local value = redis.pcall('GET', key)
  local reply = alone(key, value, claim, span, keep, queue, at_least)
  if reply then return reply end
  return enter(open(key, value, now, keep - claim:match('^%S+ %d+ %d+ (%d+)', 1)), claim, span, keep, queue, at_least)
end`;

const line = `local function line_rule()
  local ALL = 2147483647
  local SILENCE = 6000000
  local COUNTED = 500
  local SPARE = 300000
  local steps_left = 50
  local Line = {}
  Line.__index = Line
  local function seats_of(record)
    local take, of, ttl, channel = record:match('^%S+ (%d+) (%d+) (%d+) (%S+)', 40)
    return tonumber(take), tonumber(of), record:sub(23, 38) + ttl * 1000, channel
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
  function Line:begin(record)
    local take, of, lapse = seats_of(record)
    local id = record:match('^(%S+)', 40)
    self.keep, self.far = 0, lapse
    self:no_seats()
    self:take_seats(take, of, id, lapse)
    if type(redis.pcall('UNLINK', self.line, self.claims)) == 'table' then redis.call('DEL', self.line, self.claims) end
    redis.call('HSET', self.claims, id, record)
    redis.call('ZADD', self.line, -lapse, id)
  end
  function Line:read(value)
    if value:sub(1, 6) == '1 held' then
      local id, keep = value:match('^(%S+) (%d+)$', 47)
      self.keep = tonumber(keep)
      if not self.keep then error(UNREADABLE, 0) end
      self:no_seats()
      self:take_seats(1, 1, id, tonumber(value:sub(30, 45)))
      return
    end
    local taken, room, tight, keep = value:match('^(%d+) (%d+) (%d+) (%d+)$', 30)
    self.taken, self.room, self.tight, self.keep = tonumber(taken), tonumber(room), tonumber(tight), tonumber(keep)
    if not self.keep then error(UNREADABLE, 0) end
  end
  function Line:save()
    local last = digits(self.last)
    if self.empty then
      return set_free(self.lock, '1 free ' .. last .. ' ' .. '0001', self.remember, self.last > self.time)
    end
    local needed = math.max(self.far, self.last) / 1000 + self.remember
    if needed > self.keep then
      self.keep = math.ceil(needed + SPARE)
      redis.call('PEXPIREAT', self.line, self.keep)
      redis.call('PEXPIREAT', self.claims, self.keep)
    end
    local state = self.whole and '1 held ' .. last .. ' ' .. '0001 ' .. digits(self.whole_until) .. ' ' .. self.whole .. ' ' .. self.keep
      or '1 line ' .. last .. ' ' .. '0001 ' .. self.taken .. ' ' .. self.room .. ' ' .. self.tight .. ' ' .. self.keep
    redis.call('SET', self.lock, state, 'PXAT', self.keep)
  end
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
  function Line:sweep()
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
  local function tell(id, record, lapse, channel)
    if channel == '-' then return true end
    local doubt, address = channel:match('^(%??)(.*)$')
    local good = math.floor((lapse - record:sub(23, 38)) / 1000)
    local mail = record:sub(1, 16) .. ' ' .. id .. ' ' .. good
    if address:find(':mail:2:', 1, true) then mail = mail .. ' ' .. record:sub(18, 21) end
    redis.set_repl(redis.REPL_NONE)
    local heard = redis.pcall('PUBLISH', address, mail)
    redis.set_repl(redis.REPL_ALL)
    return heard ~= 0 or doubt == '?'
  end
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
        if id ~= me and channel:sub(1, 1) == '?' then lapse = math.min(lapse, record:sub(23, 38) + SILENCE) end
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
  function Line:settle(me)
    self:sweep()
    local served = self:admit(me)
    self.empty = served and not self.soonest
    return served
  end
  return Line
end
local Line
local function open(lock, value, now, remember)
  Line = Line or line_rule()
  local line = setmetatable({
    lock = lock, line = line_of(lock), claims = claims_of(lock), time = tonumber(now), remember = remember, last = last_of(value),
    far = 0, empty = false, more = false,
  }, Line)
  if value:sub(1, 6) == '1 sole' then
    line:begin(value:sub(8))
  else
    line:read(value)
  end
  return line
end`;

const lock = `local function digits(micros)
  return ('%016.0f'):format(micros)
end
local function clock()
  local time = redis.call('TIME')
  return time[1] .. ('0'):rep(6 - #time[2]) .. time[2]
end
local function line_of(lock)
  return lock .. ':line'
end
local function claims_of(lock)
  return lock .. ':claims'
end
local UNREADABLE = 'HOLDFAST the key holds something else, or a format this version does not know'
local function kind_of(value)
  if not value then return '1 free' end
  if value.err then error(value.err, 0) end
  local kind = value:sub(1, 6)
  if #value < 28 or kind ~= '1 free' and kind ~= '1 sole' and kind ~= '1 line' and kind ~= '1 held' then error(UNREADABLE, 0) end
  return kind == '1 held' and '1 line' or kind
end
local function safely(act, key, asked, keep)
  local done, reply = pcall(act, key, asked, keep)
  if done then return reply end
  local of_server = { READONLY = 1, MISCONF = 1, NOREPLICAS = 1, LOADING = 1, MASTERDOWN = 1, CLUSTERDOWN = 1 }
  local text = type(reply) == 'table' and reply.err or tostring(reply)
  local at, _, code = text:find('(%u%u%u%u%u+) ')
  if of_server[code] then return { err = text:sub(at) } end
  return '! ' .. text
end
local function last_of(value)
  return value:sub(8, 23) + value:sub(25, 28) - 1
end
local function set_free(lock, free, remember, ahead)
  local set = ahead and redis.pcall('SET', lock, free, 'KEEPTTL') or redis.pcall('SET', lock, free, 'PX', remember)
  if set.err then redis.call('DEL', lock) end
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

const release = `local function release(key, asked)
  local value = redis.pcall('GET', key)
  local kind = kind_of(value)
  if kind == '1 free' then return 0 end
  local id, remember = asked:match('^(%S+) (%d+)$')
  if kind == '1 sole' then
    if value:match('^(%S+)', 47) ~= id then return 0 end
    local ticket = value:sub(8, 23)
    local ahead = ticket > value:sub(30, 45) and ticket > clock()
    set_free(key, '1 free ' .. ticket .. ' ' .. value:sub(25, 28), remember, ahead)
    return 1
  end
  local line = open(key, value, clock(), remember)
  local freed = line:leave(id)
  line:settle()
  line:save()
  return freed + (line.more and 2 or 0)
end`;

const standing = `local function standing(held, record, holds_until)
  local take, of, ttl, label = record:match('^%S+ (%d+) (%d+) (%d+) %S+ (.*)$', 40)
  local lapse = holds_until or record:sub(23, 38) + ttl * 1000
  if lapse <= time then return nil end
  return ('%d %s %.0f %s %s '):format(held, record:sub(1, 16), lapse, take, of) .. label
end`;

export const ATTEMPT: Script = {
  name: 'attempt',
  sha1: '3a8716d0c2fd0ec416c6968ae6b8a262d84ee087',
  text: `${lock}
local now = clock()
local time = tonumber(now)
${alone}
${line}
${attempt}
local replies, count = {}, #ARGV / 2
for i = 1, count do
  replies[i] = safely(attempt, KEYS[i], ARGV[2 * i - 1], ARGV[2 * i])
  if type(replies[i]) == 'table' then return replies[i] end
end
return count == 1 and replies[1] or replies`,
};

export const EVICT: Script = {
  name: 'evict',
  sha1: '24d388e22a2520c543c3c81323267bed22de6abb',
  text: `${lock}
${line}
${portion}
local now = clock()
local value = redis.call('GET', KEYS[1])
local kind = kind_of(value)
if kind == '1 free' then return 0 end
if kind == '1 sole' then
  local ticket = value:sub(8, 23)
  if ticket ~= ARGV[1] then return 0 end
  set_free(KEYS[1], '1 free ' .. ticket .. ' ' .. value:sub(25, 28), ARGV[3], ticket > now)
  return 1
end
local function evicted(id)
  local record = redis.call('HGET', claims_of(KEYS[1]), id)
  if not record or record:sub(1, 16) ~= ARGV[1] then return nil end
  local line = open(KEYS[1], value, now, ARGV[3])
  local found = line:leave(id)
  line:settle()
  line:save()
  return found + (line.more and 2 or 0)
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
  sha1: '06997d4c8a0214ed723064ee63f47115b08f3716',
  text: `${lock}
local now = clock()
local time = tonumber(now)
${standing}
${portion}
local value = redis.call('GET', KEYS[1])
local kind = kind_of(value)
if kind == '1 sole' then return { now, '', standing(1, value:sub(8)) } end
if kind ~= '1 line' then return { now, '' } end
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
  sha1: '1245cacc98960ded10071cff25dbad16a95bf8fa',
  text: `${lock}
local now = clock()
local time = tonumber(now)
${standing}
local replies = { now }
local function look(key)
  local value = redis.pcall('GET', key)
  local kind = kind_of(value)
  if kind == '1 free' then return nil end
  return kind == '1 line' and '' or standing(1, value:sub(8))
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
  sha1: 'f52daa0c5080e6da00f872736bdbeb80624f68dd',
  text: `${lock}
local now = clock()
local time = tonumber(now)
${alone}
${line}
${attempt}
${release}
local freed = safely(release, KEYS[1], ARGV[1])
if type(freed) == 'table' then return freed end
local reply = safely(attempt, KEYS[1], ARGV[2], ARGV[3])
return type(reply) == 'table' and reply or { freed, reply }`,
};

export const RELEASE: Script = {
  name: 'release',
  sha1: '9153f1a81101fd2195fcc21895d9d11eb1c39578',
  text: `${lock}
${line}
${release}
local replies = {}
for i = 1, #ARGV do
  replies[i] = safely(release, KEYS[i], ARGV[i])
  if type(replies[i]) == 'table' then return replies[i] end
end
return #ARGV == 1 and replies[1] or replies`,
};

export const RENEW: Script = {
  name: 'renew',
  sha1: 'b6754d2762869c039af075bdce6ae8fcc8d8c7f8',
  text: `${lock}
${line}
local now = clock()
local time = tonumber(now)
local function renew_sole(key, value, hold, ttl, keep)
  local old, claim = ttl, nil
  if value:find(hold, 47, true) ~= 47 then
    local id, take, of, was, channel, label = value:match('^(%S+) (%d+) (%d+) (%d+) (%S+) (.*)$', 47)
    if id ~= hold:match('^(%S+)', 1) then return 0 end
    old, claim = was, id .. ' ' .. take .. ' ' .. of .. ' ' .. ttl .. ' ' .. channel .. ' ' .. label
  end
  if value:sub(30, 45) + old * 1000 <= time then return 0 end
  local ticket = value:sub(8, 23)
  local ahead = ticket > now and ticket + value:sub(25, 28) - time or 0
  redis.call('PEXPIREAT', key, math.ceil((time + ahead) / 1000) + keep)
  if not claim and redis.pcall('SETRANGE', key, 29, now) == #value then return 1 end
  claim = claim or value:sub(47)
  redis.call('SET', key, '1 sole ' .. ticket .. ' ' .. value:sub(25, 28) .. ' ' .. now .. ' ' .. claim, 'KEEPTTL')
  return 1
end
local lines_left = 50
local function renew(key, hold, asked)
  local value = redis.pcall('GET', key)
  local kind = kind_of(value)
  if kind == '1 free' then return 0 end
  local ttl, keep = asked:match('^(%d+) (%d+)$')
  if kind == '1 sole' then return renew_sole(key, value, hold, ttl, keep) end
  lines_left = lines_left - 1
  if lines_left < 0 then return 2 end
  local id = hold:match('^(%S+)', 1)
  local line = open(key, value, now, keep - ttl)
  local score = redis.call('ZSCORE', line.line, id)
  if not score or -score <= line.time then return 0 end
  redis.call('PEXPIREAT', key, math.ceil(time / 1000) + keep)
  line.far = time + ttl * 1000
  redis.call('ZADD', line.line, 'XX', -line.far, id)
  if id == line.whole then line.whole_until = line.far end
  line:save()
  return 1
end
local replies, count = {}, #ARGV / 2
for i = 1, count do
  replies[i] = safely(renew, KEYS[i], ARGV[2 * i - 1], ARGV[2 * i])
  if type(replies[i]) == 'table' then return replies[i] end
end
return count == 1 and replies[1] or replies`,
};
