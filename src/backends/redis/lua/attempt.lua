-- Takes the hold or, if asked to, takes or keeps a place. Repeating it is harmless and a sign of life.
--   KEYS  lock, line, claims
--   ARGV  claim, not after (engine's µs), span, 1 to queue or 0, at least (a ticket, or 0)
--   ->    granted  ticket, now
--         refused  0, now, how many are ahead, ms to the earliest lapse among the holders
--         late     -1, now
-- @include alone
local now = clock()
if now > tonumber(ARGV[2]) then return { -1, now } end
local value = redis.call('GET', KEYS[1])
local span, queue, at_least = tonumber(ARGV[3]), ARGV[4] == '1', tonumber(ARGV[5])
local reply = alone(KEYS[1], value, now, ARGV[1], span, queue, at_least)
if reply then return reply end
-- @include line
if not open(KEYS[1], KEYS[2], KEYS[3], value) then return unreadable() end
return enter(ARGV[1], span, queue, at_least)
