-- A claim's attempt in a line: its hold or its place as it stands, or a new one at the end.
local function enter(line, claim, span, keep, queue, at_least)
  local id, take, of, ttl = claim:match($claim[id, take, of, ttl])
  take, of = tonumber(take), tonumber(of)
  local served = line:settle(id)
  if line.empty then
    return alone(line.lock, $free{ticket = digits(line.last), span = '0001'}, claim, span, keep, queue, at_least)
  end
  local record = redis.call('HGET', line.claims, id)
  local score = record and redis.call('ZSCORE', line.line, id)
  local ticket, given, final, held
  if score then
    ticket, given, held = record:sub($record.ticket), record:sub($record.span), tonumber(score) < 0
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
    redis.call('HSET', line.claims, id, $record{ticket, span = given, seen = now, words = claim})
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

-- One attempt. `asked` and `keep` as ARGV of attempt.lua has them.
local function attempt(key, asked, keep)
  if now > asked:sub($asked.notAfter) then return '-1 ' .. now end
  local span, claim, queue = asked:sub($asked.span), asked:sub($asked.words), asked:sub($asked.queue) == '1'
  local at_least = asked:byte($asked.atLeast.at) ~= 45 and asked:sub($asked.atLeast) or nil -- 45: a dash
  local value = redis.pcall('GET', key)
  local reply = alone(key, value, claim, span, keep, queue, at_least)
  if reply then return reply end
  return enter(open(key, value, now, keep - claim:match($claim[ttl])), claim, span, keep, queue, at_least)
end
