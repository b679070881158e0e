-- A lock without a line is one string, so that the common case is one read and one write:
--   1 free <ticket> <span>  nobody; the last tickets given: that one, and how many from it on
--   1 sole <record>         one claim alone, whatever seats it takes
--   1 line, 1 held …        several: see line.lua
-- The first field is the version of the format. Tickets are times, so that they grow even over a loss of the data: the
-- engine's µs, always 16 digits, so that as text they have a fixed place and the order of numbers. (Formatting and parsing
-- numbers is what a script spends most of its time on.)
-- A key that nobody uses is remembered for a while (`remember`, ms), and until its last ticket is behind the clock.
--   record  <ticket> <span, 4 digits> <seen> <claim>: its tickets, and its last sign of life
--   claim   <id> <take> <of> <ttl ms> <channel> <label>: the channel its grant is told on: -, none; with a ? before it, one
--           where to be unheard does not mean to be dead
--   asked   <not after, 16 digits><at least, 16 digits or dashes><1 to queue or 0> <span, 4 digits> <claim>: the ticket may
--           not be below `at least`
-- `TIME` is the including script's.
-- The two other keys of a lock are named after it and share its hash tag, so that a command names one key, not three.

local function digits(micros)
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

-- Which of the three it is: free, sole, or a line. Raises what the server said instead of it, and what is not ours.
local function kind_of(value)
  if not value then return '1 free ' end
  if value.err then error(value.err, 0) end
  local kind, last, span = value:match('^(1 %l%l%l%l )(%d+) (%d+)')
  if kind == '1 held ' then kind = '1 line ' end
  if kind ~= '1 free ' and kind ~= '1 sole ' and kind ~= '1 line ' or #last ~= 16 or #span ~= 4 then error(UNREADABLE, 0) end
  return kind
end

-- What is wrong with the whole server, or with its place among others, and not with one key.
local OF_SERVER = { READONLY = 1, MISCONF = 1, NOREPLICAS = 1, LOADING = 1, MASTERDOWN = 1, CLUSTERDOWN = 1 }

-- One of several requests: what goes wrong is its own reply. Before 7 the server raises text, since then a table.
-- What is wrong with the server is a table, to be the reply of the whole script: an error as the server words it, so that the
-- client's own logic sees it (ioredis' reconnectOnError, node-redis behind sentinels).
local function safely(act, ...)
  local done, reply = pcall(act, ...)
  if done then return reply end
  local text = type(reply) == 'table' and reply.err or tostring(reply)
  -- Before 7 it stands behind a position; ERR, which may stand before that, has three letters.
  local at, _, code = text:find('(%u%u%u%u%u+) ')
  if OF_SERVER[code] then return { err = text:sub(at) } end
  return '! ' .. text
end

-- How many of `span` tickets from `first` on are behind the clock; one at the least.
local function behind(first, span)
  local room = now - first + 1
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

-- The same for a claim that is raised to what a quorum proposes. `last` is the last one it had.
local function raised(last, span, proposed)
  local given = behind(proposed, span)
  if proposed + given - 1 < last + 0 then given = ('%04d'):format(last - proposed + 1) end
  return proposed, given, digits(proposed + given - 1)
end

-- The last ticket of the two fields that a lock's string has after its kind.
local function last_of(value)
  local ticket, span = value:sub(8, 23), value:sub(25, 28)
  return span == '0001' and ticket or digits(ticket + span - 1)
end

-- `given`: the last tickets.
local function set_free(lock, given, remember)
  -- Ahead of the clock only by a quorum's proposal, an older version, or a clock that was set back.
  local ahead = given:sub(1, 16) > now
  local set = ahead and redis.pcall('SET', lock, '1 free ' .. given, 'KEEPTTL')
    or redis.pcall('SET', lock, '1 free ' .. given, 'PX', remember)
  -- Short of memory, SET is refused and DEL is not. The next ticket is still the engine's time.
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

-- Whether the claim can be answered by a refusal that leaves nothing; `sole` is alone and alive until `lapse`.
local function refusal(claim, sole, lapse)
  local take, of = claim:match('^%S+ (%d+) (%d+)')
  local taken, room = sole:match('^%S+ (%d+) (%d+)')
  if take + taken <= math.min(of, room) then return nil end
  return refused(1, lapse)
end

-- The claim's attempt if the lock's string is enough to answer it. nil: a line is needed.
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
      -- Never sooner than a renewal confirmed.
      local head, asked, rest = claim:match('^(%S+ %d+ %d+ )(%d+)(.*)$')
      local left = math.ceil((lapse - now) / 1000)
      if left > tonumber(asked) then claim, keep = head .. left .. rest, keep + left - asked end
      return set_sole(lock, ticket, claim, given, keep)
    end
  end
  local ticket, given = tickets(value and last_of(value), span, at_least)
  return set_sole(lock, ticket, claim, given, keep)
end
