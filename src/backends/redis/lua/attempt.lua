-- Takes holds or, if asked to, takes or keeps places: any number of claims, each on its own. Repeating one is harmless and
-- a sign of life.
--   KEYS  per claim: lock; of a Cluster, then the others (see src/backends/redis/keys.ts)
--   ARGV  per claim: what is asked (see include/alone.lua), ms to keep the key
--   ->    per claim, and of one claim by itself: an array costs the server one write more than the answer
--         granted    "<ticket> <now> <span>"; <now>, an integer, where it was given all tickets it asked for and the last is
--                    that, and below zero where the first is the one proposed
--         refused    "0 <now> <how many are ahead> <ms to the earliest lapse among the holders>"
--         late       "-1 <now>"
--         ask again  "-2 <now>": too many have to be passed for one script; it goes on from there
--         failed     "! <error>"
local TIME = redis.call('TIME')
local now = TIME[1] .. ('0'):rep(6 - #TIME[2]) .. TIME[2]
local replies, count, done, SECOND = nil, #ARGV / 2, 0, 1000000
-- The quick way, before anything is defined: nobody is there, and nothing is unusual.
for i = 1, count do
  local asked = ARGV[2 * i - 1]
  -- The first to differ are digits: what is asked begins with its not-after.
  if #now ~= 16 or now > asked then break end
  local value = redis.pcall('GET', KEYS[i])
  local span, proposed, ticket, reply = asked:sub(35, 38), nil, now, nil
  if asked:byte(17) ~= 45 then proposed = asked:sub(17, 32) end
  -- See tickets in include/alone.lua.
  if value then
    if #value ~= 28 or value:sub(1, 7) ~= '1 free ' then break end
    local free, first = value:sub(8, 23) + value:sub(25), proposed and proposed + 0 or now - span + 1
    if first < free then first, proposed = free, nil end
    local room = now - first + 1
    if room < 1 then break end
    ticket = proposed or ('%016.0f'):format(first)
    if room < span + 0 then
      span = ('%04d'):format(room)
      reply = ticket .. ' ' .. now .. ' ' .. room
    elseif proposed then
      reply = -now
    elseif room > span + 0 then
      reply = ticket .. ' ' .. now .. ' ' .. span
    else
      reply = tonumber(now)
    end
  elseif proposed and now - proposed < SECOND then
    if now - proposed + 1 < span + 0 then break end
    ticket, reply = proposed, -now
  else
    reply = span == '0001' and tonumber(now) or now .. ' ' .. now .. ' 1'
    span = '0001'
  end
  redis.call('SET', KEYS[i], '1 sole ' .. ticket .. ' ' .. span .. ' ' .. now .. asked:sub(39), 'PX', ARGV[2 * i])
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
