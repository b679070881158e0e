-- Gives up a hold or a place, admits whoever is next and tells them, and in the same step lets the process's next claim
-- stand in line. A release is never too late; the next claim may be.
--   KEYS  lock, line, claims
--   ARGV  id, then either nothing or what attempt.lua takes for the next claim
--   ->    1 if there was something to give up, else 0; then attempt.lua's reply for the next claim
-- @include alone
local now = clock()
local value = redis.call('GET', KEYS[1])
local late = ARGV[3] and now > tonumber(ARGV[3])
local claim = not late and ARGV[2]
local span, queue, at_least = tonumber(ARGV[4]), ARGV[5] == '1', tonumber(ARGV[6])

local function answer(freed, reply)
  if late then return { freed, -1, now } end
  if not reply then return { freed } end
  if reply.err then return reply end
  return { freed, unpack(reply) }
end

local kind, last, lapse, holder = (value or '1 free 0'):match('^1 (%l+) (%d+) ?%d* ?%d* ?(%d*) ?(%S*)')
if not kind then return unreadable() end
if kind == 'sole' and holder == ARGV[1] then
  local freed = tonumber(lapse) > now and 1 or 0
  if claim then return answer(freed, alone(KEYS[1], '1 free ' .. last, now, claim, span, queue, at_least)) end
  set_free(KEYS[1], tonumber(last), now)
  return answer(freed)
end
if kind ~= 'line' then
  local reply = claim and alone(KEYS[1], value, now, claim, span, queue, at_least)
  if reply or not claim then return answer(0, reply) end
end
-- @include line
if not open(KEYS[1], KEYS[2], KEYS[3], value) then return unreadable() end
local freed = leave(ARGV[1])
if claim then return answer(freed, enter(claim, span, queue, at_least)) end
settle()
save()
return answer(freed)
