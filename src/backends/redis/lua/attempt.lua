-- Takes holds or, if asked to, takes or keeps places: any number of claims, each on its own. Repeating one is harmless and
-- a sign of life.
--   KEYS  per claim: lock, line, claims
--   ARGV  per claim: the claim, not after (engine's µs, 16 digits), span, ms to keep the key, 1 to queue or 0,
--         the least the ticket may be (16 digits) or nothing
--   ->    per claim
--         granted  "<ticket> <now>", or <now>, an integer, where that is the ticket
--         refused  "0 <now> <how many are ahead> <ms to the earliest lapse among the holders>"
--         late     "-1 <now>"
--         failed   "! <error>"
local time = redis.call('TIME')
local now = time[1] .. time[2]
local replies, done, SECOND = {}, 0, 1000000
-- The quick way, before anything is defined: nobody is there, and nothing is unusual.
for i = 1, #ARGV / 6 do
  local a = 6 * i
  local key = KEYS[3 * i - 2]
  local value = redis.pcall('GET', key)
  if #now ~= 16 or now > ARGV[a - 4] then break end
  local ticket = now
  -- See first_ticket in include/alone.lua.
  if ARGV[a] ~= '' and (value or now - ARGV[a] < SECOND) then ticket = ARGV[a] end
  if value then
    if value.err or value:sub(1, 7) ~= '1 free ' or #value ~= 23 then break end
    local last = value:sub(8)
    if last >= ticket then ticket = ('%016.0f'):format(last + 1) end
  end
  -- Tickets that were reserved or proposed are ahead of the clock, by ms; by more, the key has to live longer.
  if ticket - now > SECOND then break end
  local reply = ticket == now and tonumber(now) or ticket .. ' ' .. now
  local last = ARGV[a - 3] == '1' and ticket or ('%016.0f'):format(ticket + ARGV[a - 3] - 1)
  redis.call('SET', key, '1 sole ' .. last .. ' ' .. ticket .. ' ' .. now .. ' ' .. ARGV[a - 5], 'PX', ARGV[a - 2])
  replies[i], done = reply, i
end
if done == #ARGV / 6 then return replies end
-- @include alone
now = clock(time)
-- @include line
-- @include attempt
for i = done + 1, #ARGV / 6 do
  replies[i] = safely(attempt, 3 * i - 2, 6 * i - 5, redis.pcall('GET', KEYS[3 * i - 2]))
end
return replies
