// Generated from lua/*.lua by scripts/build-lua.mjs; edit those.

/** One constant script, run by its hash. */
export interface Script {
  readonly name: string;
  readonly sha1: string;
  readonly text: string;
}

const attempt = `local function attempt(key, asked, keep)
if now > asked:sub(1, 16) then return '-1 ' .. now end
local value, sole_until = redis.pcall('GET', key), nil
local kind = kind_of(value)
if kind == '1 sole' then
local ttl = value:match('^%S+ %d+ %d+ (%d+)', 47)
if not ttl then error(UNREADABLE, 0) end
sole_until = value:sub(30, 45) + ttl * 1000
if sole_until <= time then kind = '1 free' end
end
if kind == '1 free' then return take(key, value, asked, keep) end
contend = contend or contention()
return contend(key, value, sole_until, asked, keep)
end`;

const contended = `local function contention()
local rule = line_rule()
local function refused(ahead, lapse)
return ('0 %s %d %d'):format(now, ahead, math.ceil((lapse - time) / 1000))
end
local function raised(ticket, span, asked)
local last = ticket + span - 1
if asked:byte(18) == 45 or asked:sub(18, 33) <= ticket then return ticket, span, last end
local proposed = asked:sub(18, 33)
local given = behind(proposed, asked:sub(37, 40))
if proposed + given - 1 < last then given = ('%04.0f'):format(last - proposed + 1) end
return proposed, given, proposed + given - 1
end
local function again(lock, value, lapse, asked, keep)
local id, take, of, ttl, channel, label = asked:match('^(%S+) (%d+) (%d+) (%d+) (%S+) (.*)$', 42)
local ticket, span = raised(value:sub(8, 23), value:sub(25, 28), asked)
local left = math.max(ttl, math.ceil((lapse - time) / 1000))
return set_sole(lock, ticket, span, id .. ' ' .. take .. ' ' .. of .. ' ' .. left .. ' ' .. channel .. ' ' .. label, keep + left - ttl)
end
local function enter(line, asked, keep)
local id, take_of_all, of, ttl = asked:match('^(%S+) (%d+) (%d+) (%d+)', 42)
local seats, room, queue = tonumber(take_of_all), tonumber(of), asked:sub(35, 35) == '1'
local served = rule.settle(line, id)
if line.empty then return take(line.lock, rule.free(line), asked, keep) end
local record = redis.call('HGET', line.claims, id)
local score = record and redis.call('ZSCORE', line.places, id)
local ticket, span, final, held
if score then
ticket, span, held = record:sub(1, 16), record:sub(18, 21), tonumber(score) < 0
if held then
ticket, span, final = raised(ticket, span, asked)
line.last = math.max(line.last, final)
end
else
held = served and line.taken + seats <= math.min(line.room, room)
ticket, span, final = tickets(line.last, asked)
end
if held or queue then
local lapse = time + ttl * 1000
if held and score then lapse = math.max(lapse, -score) end -- never sooner than a renewal confirmed
line.far = math.max(line.far, lapse)
if held and not score then rule.take_seats(line, seats, room, id, lapse) end
if id == line.whole then line.whole_until = lapse end
redis.call('HSET', line.claims, id, ticket .. ' ' .. span .. ' ' .. now .. ' ' .. asked:sub(42))
if held then
redis.call('ZADD', line.places, -lapse, id)
elseif not score then
redis.call('ZADD', line.places, ticket, id)
end
if not score then line.last = final end
elseif score then
rule.leave(line, id)
rule.settle(line)
end
rule.save(line)
if held then return ticket .. ' ' .. now .. ' ' .. span end
if line.more then return '-2 ' .. now end
local ahead = redis.call('ZRANK', line.places, id) or redis.call('ZCARD', line.places)
return refused(ahead, line.soonest or time)
end
return function(lock, value, sole_until, asked, keep)
local id, seats, of, ttl = asked:match('^(%S+) (%d+) (%d+) (%d+)', 42)
if sole_until then
local sole, taken, room = value:match('^(%S+) (%d+) (%d+)', 47)
if sole == id then return again(lock, value, sole_until, asked, keep) end
local fits = seats + taken <= math.min(of, room)
if not fits and asked:sub(35, 35) == '0' then return refused(1, sole_until) end
end
return enter(rule.open(lock, value, now, keep - ttl), asked, keep)
end
end
local contend`;

const free = `local function set_free(lock, free, remember, ahead)
local set = ahead and redis.pcall('SET', lock, free, 'KEEPTTL') or redis.pcall('SET', lock, free, 'PX', remember)
if set.err then redis.call('DEL', lock) end
end`;

const line = `local rule_of_line
local function line_rule()
if rule_of_line then return rule_of_line end
local ALL = 2147483647
local SILENCE = 6000000
local COUNTED = 500
local SPARE = 300000
local steps_left = 50
local function seats_of(record)
local take, of, ttl, channel = record:match('^%S+ (%d+) (%d+) (%d+) (%S+)', 40)
return tonumber(take), tonumber(of), record:sub(23, 38) + ttl * 1000, channel
end
local function take_seats(line, take, of, id, lapse)
if line.taken == 0 and take >= of then line.whole, line.whole_until = id, lapse end
line.taken = line.taken + take
if of < line.room then line.room, line.tight = of, 0 end
if of == line.room then line.tight = line.tight + 1 end
end
local function no_seats(line)
line.taken, line.room, line.tight, line.whole = 0, ALL, 0, nil
end
local function open(lock, value, now, remember)
local line = {
lock = lock,
places = lock .. ':line',
claims = lock .. ':claims',
time = tonumber(now),
remember = remember,
last = value:sub(8, 23) + value:sub(25, 28) - 1,
taken = 0,
room = ALL,
tight = 0,
keep = 0, -- ms at which the three keys vanish
far = 0, -- the latest lapse set here
soonest = nil, -- the earliest among the holders
whole = nil, -- the holder that leaves no room, if there is one
whole_until = nil, -- its lapse
empty = false, -- nobody is left
more = false, -- the portion was used up before all was done
}
local kind = value:sub(1, 6)
if kind == '1 held' then
local id, keep = value:match('^(%S+) (%d+)$', 47)
line.keep = tonumber(keep)
take_seats(line, 1, 1, id, tonumber(value:sub(30, 45)))
elseif kind == '1 line' then
local taken, room, tight, keep = value:match('^(%d+) (%d+) (%d+) (%d+)$', 30)
line.taken, line.room, line.tight, line.keep = tonumber(taken), tonumber(room), tonumber(tight), tonumber(keep)
else
local record = value:sub(8)
local take, of, lapse = seats_of(record)
local id = record:match('^(%S+)', 40)
line.far = lapse
take_seats(line, take, of, id, lapse)
if type(redis.pcall('UNLINK', line.places, line.claims)) == 'table' then redis.call('DEL', line.places, line.claims) end
redis.call('HSET', line.claims, id, record)
redis.call('ZADD', line.places, -lapse, id)
end
if not line.keep then error(UNREADABLE, 0) end
return line
end
local function free(line)
return '1 free ' .. ('%016.0f'):format(line.last) .. ' ' .. '0001'
end
local function save(line)
if line.empty then return set_free(line.lock, free(line), line.remember, line.last > line.time) end
local last = ('%016.0f'):format(line.last)
local needed = math.max(line.far, line.last) / 1000 + line.remember
if needed > line.keep then
line.keep = math.ceil(needed + SPARE)
redis.call('PEXPIREAT', line.places, line.keep)
redis.call('PEXPIREAT', line.claims, line.keep)
end
local state = line.whole and '1 held ' .. last .. ' ' .. '0001 ' .. ('%016.0f'):format(line.whole_until) .. ' ' .. line.whole .. ' ' .. line.keep
or '1 line ' .. last .. ' ' .. '0001 ' .. line.taken .. ' ' .. line.room .. ' ' .. line.tight .. ' ' .. line.keep
redis.call('SET', line.lock, state, 'PXAT', line.keep)
end
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
line.tight = 0 -- damaged: count anew
return 0
end
local take, of, lapse = seats_of(record)
if score < 0 then
lapse = -score
line.taken = line.taken - take
if of == line.room and line.tight > 0 then line.tight = line.tight - 1 end
end
return lapse > line.time and 1 or 0
end
local function recount(line)
local holders = redis.pcall('ZCOUNT', line.places, '-inf', '(0') -- an error where the user has the rights of an older version
if type(holders) == 'number' and holders > COUNTED then return end
no_seats(line)
for _, id in ipairs(redis.call('ZRANGEBYSCORE', line.places, '-inf', 0)) do
local record = redis.call('HGET', line.claims, id)
if record then
local take, of, lapse = seats_of(record)
take_seats(line, take, of, id, lapse)
else
redis.call('ZREM', line.places, id)
end
end
end
local function sweep(line)
while line.taken > 0 do
local first = redis.call('ZREVRANGEBYSCORE', line.places, 0, '-inf', 'WITHSCORES', 'LIMIT', 0, 1)
line.soonest = first[2] and -tonumber(first[2])
if not line.soonest then break end
if line.soonest > line.time then
if line.tight < 1 then recount(line) end
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
local function kind_of_channel(channel)
return channel:match('.*:mail:(%d):')
end
local function send(address, mail)
redis.set_repl(redis.REPL_NONE)
local heard = redis.pcall(kind_of_channel(address) == '3' and 'SPUBLISH' or 'PUBLISH', address, mail)
redis.set_repl(redis.REPL_ALL)
return heard
end
local function in_doubt(channel)
if channel:byte() ~= 63 then return false end -- 63: ?
local listeners = kind_of_channel(channel) == '3' and redis.pcall('PUBSUB', 'SHARDNUMSUB', channel:sub(2))[2]
return (listeners or 0) == 0
end
local function tell(id, record, lapse, channel)
if channel == '-' then return true end
local doubt, address = channel:match('^(%??)(.*)$')
local good = math.floor((lapse - record:sub(23, 38)) / 1000)
local mail = record:sub(1, 16) .. ' ' .. id .. ' ' .. good
if kind_of_channel(address) then mail = mail .. ' ' .. record:sub(18, 21) end
return send(address, mail) ~= 0 or doubt == '?'
end
local function admit(line, me)
while not line.more do
if line.taken >= line.room then return false end
local id = redis.call('ZRANGEBYSCORE', line.places, '(0', '+inf', 'LIMIT', 0, 1)[1]
if not id then return true end
if steps_left < 1 then break end
steps_left = steps_left - 1
local record = redis.call('HGET', line.claims, id)
local take, of, lapse, channel
if record then
take, of, lapse, channel = seats_of(record)
if id ~= me and in_doubt(channel) then lapse = math.min(lapse, record:sub(23, 38) + SILENCE) end
end
local alive = record and (id == me or lapse > line.time)
if alive and line.taken + take > math.min(line.room, of) then return false end
if alive then redis.call('ZADD', line.places, -lapse, id) end
if alive and (id == me or tell(id, record, lapse, channel)) then
take_seats(line, take, of, id, lapse)
line.far = math.max(line.far, lapse)
line.soonest = math.min(line.soonest or lapse, lapse)
else
redis.call('ZREM', line.places, id)
redis.call('HDEL', line.claims, id)
end
end
line.more = true
return false
end
local function settle(line, me)
sweep(line)
local served = admit(line, me)
line.empty = served and not line.soonest
return served
end
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
end`;

const lock = `local function clock()
local time = redis.call('TIME')
return time[1] .. ('0'):rep(6 - #time[2]) .. time[2]
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
local of_server = { READONLY = true, MISCONF = true, NOREPLICAS = true, LOADING = true, MASTERDOWN = true, CLUSTERDOWN = true }
local text = type(reply) == 'table' and reply.err or tostring(reply)
text = text:gsub('^@user_script: ?%d+: ', '')
local at, _, code = text:find('(%u%u%u%u%u+) ')
if of_server[code] then return { err = text:sub(at) } end
return '! ' .. text
end`;

const portion = `local PORTION = 500
local function portion(lock, place)
local score, skipped = place:match('^h (%S+) (%d+)$')
local found
if place == '' or score then
skipped = tonumber(skipped or 0)
found = redis.call('ZREVRANGEBYSCORE', lock .. ':line', score or 0, '-inf', 'WITHSCORES', 'LIMIT', skipped, PORTION)
if #found < 2 * PORTION then return found, 'w 0' end
local last = found[#found]
local same = last == score and skipped or 0
for i = #found, 2, -2 do
if found[i] ~= last then break end
same = same + 1
end
return found, ('h %s %d'):format(last, same)
end
found = redis.call('ZRANGEBYSCORE', lock .. ':line', '(' .. place:sub(3), '+inf', 'WITHSCORES', 'LIMIT', 0, PORTION)
return found, #found == 2 * PORTION and 'w ' .. found[#found] or nil
end`;

const release = `local function release(key, asked)
local value = redis.pcall('GET', key)
local kind = kind_of(value)
if kind == '1 free' then return 0 end
local blank = asked:find(' ', 1, true)
local remember = asked:sub(blank + 1)
if kind == '1 sole' then
if value:sub(47, 47 + blank - 1) ~= asked:sub(1, blank) then return 0 end
local ticket = value:sub(8, 23)
local ahead = ticket > value:sub(30, 45) and ticket > clock()
set_free(key, '1 free ' .. ticket .. ' ' .. value:sub(25, 28), remember, ahead)
return 1
end
return line_rule().withdraw(key, value, clock(), remember, asked:sub(1, blank - 1))
end`;

const standing = `local function standing(held, record, holds_until)
local take, of, ttl, label = record:match('^%S+ (%d+) (%d+) (%d+) %S+ (.*)$', 40)
local lapse = holds_until or record:sub(23, 38) + ttl * 1000
if lapse <= time then return nil end
return ('%d %s %.0f %s %s '):format(held, record:sub(1, 16), lapse, take, of) .. label
end`;

const take = `local function last_of(value)
return value:sub(8, 23) + value:sub(25, 28) - 1
end
local function behind(first, span)
local room = time - first + 1
return room < 1 and '0001' or room < span + 0 and ('%04.0f'):format(room) or span
end
local function tickets(last, asked)
local span, first, proposed = asked:sub(37, 40), nil, nil
if asked:byte(18) ~= 45 then proposed = asked:sub(18, 33) end -- 45: a dash
if proposed and (last or time - proposed < 1000000) then
first = proposed + 0
elseif not last then
return now, '0001', time
else
first, proposed = time - span + 1, nil
end
if last and first <= last then first, proposed = last + 1, nil end
local given = behind(first, span)
return proposed or ('%016.0f'):format(first), given, first + given - 1
end
local function set_sole(lock, ticket, span, claim, keep)
if ticket > now then keep = keep + math.ceil((ticket + span - time) / 1000) end
redis.call('SET', lock, '1 sole ' .. ticket .. ' ' .. span .. ' ' .. now .. ' ' .. claim, 'PX', keep)
return ticket .. ' ' .. now .. ' ' .. span
end
local function take(lock, value, asked, keep)
local ticket, span = tickets(value and last_of(value), asked)
return set_sole(lock, ticket, span, asked:sub(42), keep)
end`;

const words = `local function words_of(lock)
local value = redis.pcall('GET', lock .. ':left')
if not value then return nil end
if value.err then error(value.err, 0) end
local tries, begun, mark, counts, ticket, since, ends, text = value:match('^1 (%d+) (%d+) (%S+) (%d+) (%d+) (%d+) (%d+) (.*)$')
if not tries then error(UNREADABLE, 0) end
return {
tries = tonumber(tries), begun = begun, mark = mark, counts = tonumber(counts),
ticket = ticket, since = tonumber(since), ends = tonumber(ends), text = text,
}
end
local function keep_words(lock, words)
local head = ('1 %d %s %s %.0f %s %.0f %.0f '):format(words.tries, words.begun, words.mark, words.counts, words.ticket, words.since, words.ends)
local vanishes = math.ceil(math.max(words.counts, words.ends) / 1000)
redis.call('SET', lock .. ':left', head .. words.text, 'PXAT', ('%.0f'):format(vanishes))
end`;

export const ASK: Script = {
  name: 'ask',
  sha1: 'fad135e48e6234790edd6e7955e3e07d65acd595',
  text: `${lock}
local now = clock()
local time = tonumber(now)
${take}
${free}
${line}
${contended}
${attempt}
${release}
${words}
local function first_of(key)
local value = redis.call('GET', key)
if kind_of(value) == '1 sole' then return value:sub(8, 23) end
local first = redis.call('ZRANGEBYSCORE', key .. ':line', '-inf', '(0', 'LIMIT', 0, 1)[1]
local record = first and redis.call('HGET', key .. ':claims', first)
return record and record:sub(1, 16)
end
local ANY_AGE = 1e16
local function ask(key, asked, keep)
local oldest, mark, counts = tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[6])
local known = words_of(key)
local age = known and (known.since < known.ends and time - known.since or 0)
if known and known.ends > time and age <= oldest and (age >= 0 or oldest == ANY_AGE) then
release(key, ARGV[3])
return { '=', now, known.ticket, ('%.0f'):format(known.since), ('%.0f'):format(known.ends), known.text }
end
local reply = attempt(key, asked, keep)
local counted = known and known.counts > time
local ticket = reply:match('^(%d+) ')
if not ticket or ticket == '0' then
return { reply, '', counted and known.mark ~= '-' and known.begun == first_of(key) and known.mark or '-' }
end
if counts == 0 then return { reply, '', '-' } end
local tries = counted and known.tries or 0
if not known or known.begun ~= ticket then
tries = tries + 1
known = known or { ticket = '0', since = 0, ends = 0, text = '' }
known.tries, known.begun, known.mark, known.counts = tries, ticket, mark, time + counts
keep_words(key, known)
end
return { reply, tostring(tries), mark }
end
local reply = safely(ask, KEYS[1], ARGV[1], ARGV[2])
return type(reply) == 'table' and reply or { reply }`,
};

export const ATTEMPT: Script = {
  name: 'attempt',
  sha1: '03a6466311a625f4fea2a40fb0ef2d12e8a1c9fe',
  text: `${lock}
local now = clock()
local time = tonumber(now)
${take}
${free}
${line}
${contended}
${attempt}
local count = #ARGV / 2
if count == 1 then return safely(attempt, KEYS[1], ARGV[1], ARGV[2]) end
local replies = {}
for i = 1, count do
replies[i] = safely(attempt, KEYS[i], ARGV[2 * i - 1], ARGV[2 * i])
if type(replies[i]) == 'table' then return replies[i] end
end
return replies`,
};

export const EVICT: Script = {
  name: 'evict',
  sha1: 'bed626fe6b783321a8870b152a8958ba96620463',
  text: `${lock}
${free}
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
local record = redis.call('HGET', KEYS[1] .. ':claims', id)
if not record or record:sub(1, 16) ~= ARGV[1] then return nil end
return line_rule().withdraw(KEYS[1], value, now, ARGV[3], id)
end
if ARGV[2] == '' then
local waiter = redis.call('ZRANGEBYSCORE', KEYS[1] .. ':line', ARGV[1], ARGV[1])[1]
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
  sha1: '1e5a42ba03d18643e4704909e23633f3445b7859',
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
local record = redis.call('HGET', KEYS[1] .. ':claims', found[i])
replies[#replies + 1] = record and standing(score < 0 and 1 or 0, record, score < 0 and -score or nil)
end
return replies`,
};

export const LEAVE: Script = {
  name: 'leave',
  sha1: 'a34c6cfcf85ff52a8c76fbebf1f25e36c8745ccb',
  text: `${lock}
${free}
${line}
${release}
${words}
local now = clock()
local time = tonumber(now)
local TOLD = 50
local CARRIED = 4096
local function ticket_of(key, value, kind, id)
if kind == '1 free' then return nil end
if kind == '1 sole' then
local sole, ttl = value:match('^(%S+) %d+ %d+ (%d+)', 47)
return sole == id and value:sub(30, 45) + ttl * 1000 > time and value:sub(8, 23) or nil
end
local score = redis.call('ZSCORE', key .. ':line', id)
local record = score and redis.call('HGET', key .. ':claims', id)
return record and -score > time and record:sub(1, 16) or nil
end
local function tell_all(key, ticket, since, ends)
local text = ARGV[2]
local words = #text <= CARRIED and ('%s %.0f %.0f '):format(ticket, since, ends) .. text
for _, id in ipairs(redis.call('ZRANGEBYSCORE', key .. ':line', '(0', '+inf', 'LIMIT', 0, TOLD)) do
local record = redis.call('HGET', key .. ':claims', id)
local channel = record and record:match('^%S+ %d+ %d+ %d+ (%S+)', 40)
if channel and channel ~= '-' then
line_rule().send(channel:match('^%??(.*)$'), words and 'left ' .. id .. ' ' .. words or 'ask ' .. id)
end
end
end
local function leave(key, asked)
local value = redis.pcall('GET', key)
local kind = kind_of(value)
local ticket = ticket_of(key, value, kind, asked:match('^%S+'))
if not ticket then return release(key, asked) and 0 end
local ends = time + ARGV[3]
local since = ARGV[4] == '1' and ends or time
keep_words(key, { tries = 0, begun = '0', mark = '-', counts = 0, ticket = ticket, since = since, ends = ends, text = ARGV[2] })
if kind == '1 line' then tell_all(key, ticket, since, ends) end
return release(key, asked) + 4
end
return safely(leave, KEYS[1], ARGV[1])`,
};

export const LIST: Script = {
  name: 'list',
  sha1: 'bc4ce73065ec332de9dcf3dec14474cb4c2c34ff',
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
  sha1: '0f8220e0f9db7145f2eb7cbc14f2d52c27f17022',
  text: `${lock}
local now = clock()
local time = tonumber(now)
${take}
${free}
${line}
${contended}
${attempt}
${release}
local freed = safely(release, KEYS[1], ARGV[1])
if type(freed) == 'table' then return freed end
local reply = safely(attempt, KEYS[1], ARGV[2], ARGV[3])
return type(reply) == 'table' and reply or { freed, reply }`,
};

export const RELEASE: Script = {
  name: 'release',
  sha1: 'c89d8f86aeb4284d3d8af27c61af0614b5a7e87e',
  text: `${lock}
${free}
${line}
${release}
if #ARGV == 1 then return safely(release, KEYS[1], ARGV[1]) end
local replies = {}
for i = 1, #ARGV do
replies[i] = safely(release, KEYS[i], ARGV[i])
if type(replies[i]) == 'table' then return replies[i] end
end
return replies`,
};

export const RENEW: Script = {
  name: 'renew',
  sha1: '96aa60c7a1cbeafd7035d269750ed539806cca7e',
  text: `${lock}
${free}
${line}
local now = clock()
local time = tonumber(now)
local terms = {}
local function terms_of(asked)
local ttl, keep = asked:match('^(%d+) (%d+)$')
local since, vanishes = ('%016.0f'):format(time - ttl * 1000), ('%.0f'):format(time / 1000 + keep)
terms[asked] = { ttl = ttl, keep = keep, since = since, vanishes = vanishes }
return terms[asked]
end
local function renew_sole(key, value, hold, asked)
local since, vanishes, claim = asked.since, asked.vanishes, nil
if value:find(hold, 47, true) ~= 47 then
local id, take, of, ttl, channel, label = value:match('^(%S+) (%d+) (%d+) (%d+) (%S+) (.*)$', 47)
if id ~= hold:match('^(%S+)', 1) then return 0 end
since, claim = ('%016.0f'):format(time - ttl * 1000), id .. ' ' .. take .. ' ' .. of .. ' ' .. asked.ttl .. ' ' .. channel .. ' ' .. label
end
if value:sub(30, 45) <= since then return 0 end
local ticket = value:sub(8, 23)
if ticket > now then vanishes = math.ceil((ticket + value:sub(25, 28)) / 1000) + asked.keep end
redis.call('PEXPIREAT', key, vanishes)
if not claim and redis.pcall('SETRANGE', key, '29', now) == #value then return 1 end
claim = claim or value:sub(47)
redis.call('SET', key, '1 sole ' .. ticket .. ' ' .. value:sub(25, 28) .. ' ' .. now .. ' ' .. claim, 'KEEPTTL')
return 1
end
local lines_left = 50
local function renew(key, hold, asked)
local value = redis.pcall('GET', key)
local kind = kind_of(value)
if kind == '1 free' then return 0 end
local wanted = terms[asked] or terms_of(asked)
if kind == '1 sole' then return renew_sole(key, value, hold, wanted) end
lines_left = lines_left - 1
if lines_left < 0 then return 2 end
local id = hold:match('^(%S+)', 1)
local rule = line_rule()
local line = rule.open(key, value, now, wanted.keep - wanted.ttl)
local score = redis.call('ZSCORE', line.places, id)
if not score or -score <= line.time then return 0 end
redis.call('PEXPIREAT', key, wanted.vanishes)
line.far = time + wanted.ttl * 1000
redis.call('ZADD', line.places, 'XX', -line.far, id)
if id == line.whole then line.whole_until = line.far end
rule.save(line)
return 1
end
local count = #ARGV / 2
if count == 1 then return safely(renew, KEYS[1], ARGV[1], ARGV[2]) end
local replies = {}
for i = 1, count do
replies[i] = safely(renew, KEYS[i], ARGV[2 * i - 1], ARGV[2 * i])
if type(replies[i]) == 'table' then return replies[i] end
end
return replies`,
};
