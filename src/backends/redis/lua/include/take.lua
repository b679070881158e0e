-- A claim takes a lock that nobody holds. `now` and `time` are the including script's.

-- The last token of those that a lock's string tells of.
local function last_of(value)
  return value:sub($free.token) + value:sub($free.tokenCount) - 1
end

-- How many of `tokenCount` tokens from `first` on are behind the clock; one at the least.
local function behind(first, tokenCount)
  local room = time - first + 1
  return room < 1 and '0001' or room < tokenCount + 0 and $sole.tokenCount.format(room) or tokenCount
end

-- Tokens for a new claim: the first, how many, and the last. They are the clock's last µs, as many as are asked for, or as
-- there are since the last token given. So whatever is made of them, none is shown before its time, and a key that lost its
-- data, of which nothing is known but the clock, begins above all of them.
-- What a quorum proposes is taken as it is, ahead of the clock if need be (then it is one token). But where nothing is known,
-- only if it is hardly behind the clock, so that servers whose clocks differ can agree on one number; an older one may be
-- below what was forgotten.
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

-- `value`: what the lock's key holds, if anything.
local function take(lock, value, asked, keep)
  local token, tokenCount = tokens(value and last_of(value), asked)
  return set_sole(lock, token, tokenCount, asked:sub($asked.words), keep)
end
