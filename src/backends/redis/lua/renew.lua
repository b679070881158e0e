-- Sets holds to lapse their ttl from now. Never creates one, never revives one.
--   KEYS  per hold: lock; of a Cluster, then the others
--   ARGV  per hold: "<id> <take> <of> <ttl> ", as its record has it unless its ttl was changed; "<ttl> <ms to keep the key>"
--   ->    per hold, and of one hold by itself: 1 renewed, 0 gone, "! <error>"; 2 where it stands in a line and enough of those were
--         renewed by one script: it is to be asked for again
local TIME = redis.call('TIME')
local now = TIME[1] .. ('0'):rep(6 - #TIME[2]) .. TIME[2]

-- By what a hold asks for: since when it must have been seen to be alive, and when the key vanishes.
local terms = {}
local function terms_of(asked)
  local ttl, keep = asked:match('^(%d+) (%d+)$')
  local since, vanishes = ('%016.0f'):format(now - ttl * 1000), ('%.0f'):format(now / 1000 + keep)
  terms[asked] = { since = since, vanishes = vanishes }
  return terms[asked]
end

local replies, count, others = {}, #ARGV / 2, nil
-- The quick way: it is alone, and nothing of it changes but its last sign of life. (Each piece of text costs a script as much as
-- a command. Short of memory PEXPIREAT is allowed, and what a script writes after it.)
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
-- @include alone
-- @include publish
-- @include line

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

-- Ten times as dear as one that is alone.
local PORTION = 50
for n, i in ipairs(others) do
  replies[i] = n > PORTION and 2 or safely(renew, KEYS[i], ARGV[2 * i - 1], ARGV[2 * i], redis.pcall('GET', KEYS[i]))
  if type(replies[i]) == 'table' then return replies[i] end
end
return count == 1 and replies[1] or replies
