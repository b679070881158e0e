-- Tells a channel; gives how many heard it, or an error. The server counts its own listeners only, but replicates a PUBLISH:
-- who still listens at an old primary, a replica by now, would take for a grant what was counted as unheard, and given to the
-- next one.
local function publish(channel, mail)
  redis.set_repl(redis.REPL_NONE)
  local heard = redis.pcall('PUBLISH', channel, mail)
  redis.set_repl(redis.REPL_ALL)
  return heard
end
