-- @part attempt
-- The script that includes this part defines `now` and `time`: the time, µs, in digits and as a number.

-- Gives how many of `tokenCount` tokens from `first` on are not ahead of the clock; at least one.
local function behind(first, tokenCount)
  local passed = time - first + 1
  return passed < 1 and '0001' or passed < tokenCount + 0 and $sole.tokenCount.format(passed) or tokenCount
end

-- Gives the tokens for a new claim: the first, how many, and the last. A token is a time of the clock, µs. The claim gets the
-- latest times, as many as it asks for, but only those after the last token given, and at least one. So if the data of a key is
-- lost, its next token, which is the time, is above all earlier ones.
-- A quorum may propose the first token. A proposal above the last token is given unchanged, and alone if it is ahead of the clock.
-- If the last token is unknown, a proposal counts only if it is less than a second behind the clock: an older one may be below a
-- forgotten token, while servers whose clocks differ a little can still agree on one number.
local function tokens(last, asked)
  local tokenCount, first, proposed = asked:sub($asked.tokenCount), nil, nil
  if asked:byte($asked.minToken.at) ~= 45 then proposed = asked:sub($asked.minToken) end -- 45: a dash
  if proposed and (last or time - proposed < 1000000) then
    first = proposed + 0
  elseif not last then
    return now, '0001', time
  else
    first, proposed = time - tokenCount + 1, nil
  end
  if last and first <= last then first, proposed = last + 1, nil end
  local given = behind(first, tokenCount)
  return proposed or $sole.token.format(first), given, first + given - 1
end

local function set_sole(lock, token, tokenCount, claim, keep)
  if token > now then keep = keep + math.ceil((token + tokenCount - time) / 1000) end
  redis.call('SET', lock, $sole{token, tokenCount, seen = now, words = claim}, 'PX', keep)
  return token .. ' ' .. now .. ' ' .. tokenCount
end

-- Takes a lock that nobody holds. `last`: the last token given, if it is known.
local function take(lock, last, asked, keep)
  local token, tokenCount = tokens(last, asked)
  return set_sole(lock, token, tokenCount, asked:sub($asked.words), keep)
end

-- Gives the function that attempts a claim on a key with holders or waiters. A script calls this at the first such claim.
local function contention()
  local rule = queue_rule()

  local function refused(ahead, expiry)
    return ('0 %s %d %d'):format(now, ahead, math.ceil((expiry - time) / 1000))
  end

  -- Gives the tokens of a claim, raised if a quorum proposes a larger token: the first, how many, and the last.
  local function raised(token, tokenCount, asked)
    local last = token + tokenCount - 1
    if asked:byte($asked.minToken.at) == 45 or asked:sub($asked.minToken) <= token then return token, tokenCount, last end
    local proposed = asked:sub($asked.minToken)
    local given = behind(proposed, asked:sub($asked.tokenCount))
    if proposed + given - 1 < last then given = $sole.tokenCount.format(last - proposed + 1) end
    return proposed, given, proposed + given - 1
  end

  -- Repeats the attempt of the single claim, whose lease ends at `expiry`.
  local function again(lock, value, expiry, asked, keep)
    local id, units, capacity, ttl, channel, label = asked:match($asked[id, units, capacity, ttl, channel, label])
    local token, tokenCount = raised(value:sub($sole.token), value:sub($sole.tokenCount), asked)
    -- The hold must not expire sooner than an earlier renewal confirmed.
    local remaining = math.max(ttl, math.ceil((expiry - time) / 1000))
    return set_sole(lock, token, tokenCount, $claim{id, units, capacity, ttl = remaining, channel, label}, keep + remaining - ttl)
  end

  -- Attempts a claim in a queue: keeps its hold or its entry, or puts an entry at the end.
  local function enter(queue, id, units, capacity, ttl, asked, keep)
    local waits = asked:sub($asked.queue) == '1'
    local served = rule.settle(queue, id)
    if queue.empty then return take(queue.lock, queue.last, asked, keep) end
    local record = redis.call('HGET', queue.claims, id)
    local score = record and redis.call('ZSCORE', queue.key, id)
    local token, tokenCount, final, held
    if score then
      token, tokenCount, held = record:sub($record.token), record:sub($record.tokenCount), tonumber(score) < 0
      if held then
        token, tokenCount, final = raised(token, tokenCount, asked)
        queue.last = math.max(queue.last, final)
      end
    else
      held = served and queue.taken + units <= math.min(queue.capacity, capacity)
      token, tokenCount, final = tokens(queue.last, asked)
    end
    if held or waits then
      local expiry = time + ttl * 1000
      if held and score then expiry = math.max(expiry, -score) end -- never sooner than a renewal confirmed
      queue.latest = math.max(queue.latest, expiry)
      if held and not score then rule.take_units(queue, units, capacity, id, expiry) end
      if id == queue.exclusive then queue.exclusive_until = expiry end
      redis.call('HSET', queue.claims, id, $record{token, tokenCount, seen = now, words = asked:sub($asked.words)})
      if held then
        redis.call('ZADD', queue.key, -expiry, id)
      elseif not score then
        redis.call('ZADD', queue.key, token, id)
      end
      if not score then queue.last = final end
    elseif score then
      rule.remove(queue, id)
      rule.settle(queue)
    end
    rule.save(queue)
    if held then return token .. ' ' .. now .. ' ' .. tokenCount end
    if queue.more then return '-2 ' .. now end
    local ahead = redis.call('ZRANK', queue.key, id) or redis.call('ZCARD', queue.key)
    return refused(ahead, queue.earliest or time)
  end

  return function(lock, value, sole_until, asked, keep)
    local id, units, capacity, ttl = asked:match($asked[id, units, capacity, ttl])
    units, capacity = tonumber(units), tonumber(capacity)
    if sole_until then
      local sole, taken, widest = value:match($sole[id, units, capacity])
      if sole == id then return again(lock, value, sole_until, asked, keep) end
      local fits = units + taken <= math.min(capacity, widest)
      if not fits and asked:sub($asked.queue) == '0' then return refused(1, sole_until) end
    end
    return enter(rule.open(lock, value, now, keep - ttl), id, units, capacity, ttl, asked, keep)
  end
end

local contend
-- Makes one attempt. `asked` and `keep` are the two ARGV of the script `attempt`.
local function attempt(key, asked, keep)
  if now > asked:sub($asked.notAfter) then return '-1 ' .. now end
  local value, sole_until = redis.pcall('GET', key), nil
  local kind = kind_of(value)
  if kind == $sole then
    local ttl = value:match($sole[ttl])
    if not ttl then error(UNREADABLE, 0) end
    sole_until = value:sub($sole.seen) + ttl * 1000
    if sole_until <= time then kind = $free end
  end
  if kind == $free then
    return take(key, value and value:sub($free.token) + value:sub($free.tokenCount) - 1, asked, keep)
  end
  contend = contend or contention()
  return contend(key, value, sole_until, asked, keep)
end

-- @script attempt
-- Attempts any number of claims independently: each takes a hold or, if it may queue, takes or keeps its entry in the queue. A
-- repeated attempt is a sign of life. It may also raise the token of a hold, and it ends a wait that it no longer asks for.
--   KEYS  per claim: lock; in a Cluster, the other keys of all locks follow (see src/backends/redis/server.ts)
--   ARGV  per claim: what is asked (`asked` of src/backends/redis/layout.ts); ms to keep the key
--   ->    per claim (a single one gets its reply without an array):
--         granted    "<token> <now> <tokenCount>"
--         refused    "0 <now> <how many are ahead> <ms to the earliest expiry among the holders>"
--         late       "-1 <now>"
--         ask again  "-2 <now>": one script cannot skip so many dead claims; the next script continues
--         failed     "! <error>"
-- @include lock
local now = clock()
local time = tonumber(now)
-- @include queue
-- @include attempt
return answer(attempt, 2)

-- @script pass
-- Releases a claim and, in the same step, attempts the next claim of the process. Only the attempt has a time limit.
--   KEYS  lock; in a Cluster, its other keys follow
--   ARGV  what `release` takes, then what `attempt` takes for the next claim
--   ->    the replies of `release` and of `attempt`
-- @include lock
local now = clock()
local time = tonumber(now)
-- @include queue
-- @include attempt
-- @include release
local freed = safely(release, KEYS[1], ARGV[1])
if type(freed) == 'table' then return freed end
local reply = safely(attempt, KEYS[1], ARGV[2], ARGV[3])
return type(reply) == 'table' and reply or { freed, reply }
