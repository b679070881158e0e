-- Tells a channel; gives how many heard it, or an error. The server counts its own listeners only, but replicates a PUBLISH:
-- who still listens at an old primary, a replica by now, would take for a grant what was counted as unheard, and given to the
-- next one.
local function publish(channel, mail)
  redis.set_repl(redis.REPL_NONE)
  local heard = redis.pcall('PUBLISH', channel, mail)
  redis.set_repl(redis.REPL_ALL)
  return heard
end

-- What tells a claim of its grant: its ticket, its id, the ms it is good for since its last sign of life, and how many tickets
-- from that one on are its own. The fourth is for those who read it: an older version takes no mail of four, names its channel
-- otherwise, and was given all the tickets that it asked for.
local function mail_of(channel, record, id, good)
  local mail = record:sub(1, 16) .. ' ' .. id .. ' ' .. good
  return channel:find(':mail:2:', 1, true) and mail .. ' ' .. record:sub(18, 21) or mail
end
