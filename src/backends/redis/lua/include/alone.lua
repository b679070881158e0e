-- A lock without a line is one string, so that the common case is one read and one write:
--   1 free <last>                                        nobody; the highest ticket ever given
--   1 sole <last> <ticket> <joined> <lapse> <claim>      one claim alone, whatever seats it takes
--   1 line <last> <taken> <room> <tight> <keep>          several: see line.lua
-- The first field is the version of the format. Times are the engine's, in µs; tickets too, so they grow over a loss of data.
-- A claim is one line of text: <id> <take> <of> <ttl ms> <channel> <label>
-- The channel its grant is told on: -, none; with a ? before it, one where to be unheard does not mean to be dead.

local DAY = 86400000

local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

-- A key outlives by a day whatever it says, and its last ticket while that lies ahead of the clock.
local function day_after(micros)
  return ('%.0f'):format(micros / 1000 + DAY)
end

local function unreadable()
  return redis.error_reply('HOLDFAST the key holds something else, or a format this version does not know')
end

local function set_free(lock, last, now)
  -- Short of memory, SET is refused and DEL is not. The next ticket is still the engine's time.
  local done = redis.pcall('SET', lock, ('1 free %.0f'):format(last), 'PXAT', day_after(math.max(last, now)))
  if done.err then redis.call('DEL', lock) end
end

-- Whether the claim fits beside one that holds.
local function fits(claim, sole)
  local take, of = claim:match('^%S+ (%d+) (%d+)')
  local taken, room = sole:match('^%S+ (%d+) (%d+)')
  return take + taken <= math.min(of, room)
end

-- The claim's attempt if the lock's string is enough to answer it. nil: a line is needed.
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
end
