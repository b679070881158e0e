-- Gives up a hold or a place, admits whoever is next and tells them, and in the same step lets the process's next claim
-- stand in line. A release is never too late; the next claim may be.
--   KEYS  lock, line, claims
--   ARGV  id, then either nothing or what attempt.lua takes for the next claim
--   ->    1 if there was something to give up, else 0; with a next claim, "<that> <attempt.lua's reply>"
local value = redis.call('GET', KEYS[1])
local kind = value and value:sub(1, 7) or '1 free '
local mine = kind == '1 sole ' and value:sub(59, 59 + #ARGV[1]) == ARGV[1] .. ' '
-- The quick way, before anything is defined: it is alone, and nobody else comes in.
if mine and not ARGV[2] then
  if redis.pcall('SET', KEYS[1], '1 free ' .. value:sub(8, 23), 'KEEPTTL').ok then return 1 end
end
-- @include alone
local now = clock(redis.call('TIME'))
local late = ARGV[3] and now > ARGV[3]
local claim = not late and ARGV[2]

local function answer(freed, reply)
  if not ARGV[2] then return freed end
  if late then return freed .. ' -1 ' .. now end
  if type(reply) == 'table' then return reply end
  return freed .. ' ' .. reply
end

local function attempt(was)
  return claim and alone(KEYS[1], was, now, claim, ARGV[4], ARGV[5], ARGV[6], ARGV[7])
end

if mine then
  local last = value:sub(8, 23)
  if not claim then set_free(KEYS[1], last) end
  return answer(1, attempt('1 free ' .. last))
end
if kind ~= '1 line ' then
  if kind ~= '1 free ' and kind ~= '1 sole ' then return unreadable() end
  local reply = attempt(value)
  if reply or not claim then return answer(0, reply) end
end
-- @include line
if not open(KEYS[1], KEYS[2], KEYS[3], value) then return unreadable() end
local freed = leave(ARGV[1])
if claim then return answer(freed, enter(claim, ARGV[4], ARGV[5], ARGV[6], ARGV[7])) end
settle()
save()
return answer(freed)
