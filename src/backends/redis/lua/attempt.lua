-- Takes the hold or, if asked to, takes or keeps a place. Repeating it is harmless and a sign of life.
--   KEYS  lock, line, claims
--   ARGV  claim, not after (engine's µs, 16 digits), span, ms to keep the key, 1 to queue or 0,
--         and, if the ticket may not be lower than that, a ticket (16 digits)
--   ->    granted  "<ticket> <now>", or "<now>" where that is the ticket
--         refused  "0 <now> <how many are ahead> <ms to the earliest lapse among the holders>"
--         late     "-1 <now>"
local time = redis.call('TIME')
local now = time[1] .. time[2]
local value = redis.call('GET', KEYS[1])
-- The quick way, before anything is defined: nobody is there, and the clock is ahead of the last ticket.
if #now == 16 and now <= ARGV[2] and not ARGV[6] then
  if not value or value:sub(1, 7) == '1 free ' and value:sub(8) < now and #value == 23 then
    local last = ARGV[3] == '1' and now or ('%.0f'):format(now + ARGV[3] - 1)
    redis.call('SET', KEYS[1], '1 sole ' .. last .. ' ' .. now .. ' ' .. now .. ' ' .. ARGV[1], 'PX', ARGV[4])
    return now
  end
end
-- @include alone
now = clock(time)
if now > ARGV[2] then return '-1 ' .. now end
local reply = alone(KEYS[1], value, now, ARGV[1], ARGV[3], ARGV[4], ARGV[5], ARGV[6])
if reply then return reply end
-- @include line
if not open(KEYS[1], KEYS[2], KEYS[3], value) then return unreadable() end
return enter(ARGV[1], ARGV[3], ARGV[4], ARGV[5], ARGV[6])
