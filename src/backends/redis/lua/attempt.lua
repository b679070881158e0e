-- Takes holds or, if asked to, takes or keeps places: any number of claims, each on its own. Repeating one is harmless and
-- a sign of life.
--   KEYS  per claim: lock; of a Cluster, then the others (see src/backends/redis/keys.ts)
--   ARGV  per claim: what is asked (see include/alone.lua), ms to keep the key
--   ->    per claim, and of one claim by itself: an array costs the server one write more than the answer
--         granted  "<ticket> <now>"; <now>, an integer, where that is the ticket, and below zero where the proposal is
--         refused  "0 <now> <how many are ahead> <ms to the earliest lapse among the holders>"
--         late     "-1 <now>"
--         failed   "! <error>"
local TIME = redis.call('TIME')
local now = TIME[1] .. ('0'):rep(6 - #TIME[2]) .. TIME[2]
local replies, count, done, SECOND = nil, #ARGV / 2, 0, 1000000
-- The quick way, before anything is defined: nobody is there, and nothing is unusual.
for i = 1, count do
  local asked = ARGV[2 * i - 1]
  -- The first to differ are digits: what is asked begins with its not-after.
  if #now ~= 16 or now > asked then break end
  local value = redis.pcall('GET', KEYS[i])
  local ticket, reply = now, nil
  -- See first_ticket in include/alone.lua.
  if asked:byte(17) ~= 45 then
    local proposed = asked:sub(17, 32)
    if value or now - proposed < SECOND then ticket = proposed end
  end
  if value then
    if #value ~= 28 or value:sub(1, 7) ~= '1 free ' then break end
    local last, span = value:sub(8, 23), value:sub(25)
    if ticket - last < span + 0 then ticket = ('%016.0f'):format(last + span) end
  end
  if ticket == now then
    reply = tonumber(now)
  else
    -- Tickets that were reserved or proposed are ahead of the clock, by ms; by more, the key has to live longer.
    if ticket - now > SECOND then break end
    reply = ticket == asked:sub(17, 32) and -now or ticket .. ' ' .. now
  end
  redis.call('SET', KEYS[i], '1 sole ' .. ticket .. asked:sub(34, 38) .. ' ' .. now .. asked:sub(39), 'PX', ARGV[2 * i])
  if count == 1 then return reply end
  replies = replies or {}
  replies[i], done = reply, i
end
if done == count then return replies end
replies = replies or {}
-- @include alone
-- @include publish
-- @include line
-- @include attempt
for i = done + 1, count do
  replies[i] = safely(attempt, KEYS[i], ARGV[2 * i - 1], ARGV[2 * i], redis.pcall('GET', KEYS[i]))
  if type(replies[i]) == 'table' then return replies[i] end
end
return count == 1 and replies[1] or replies
