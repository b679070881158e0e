-- `ahead`: the last token is ahead of the clock, by a quorum's proposal, an older version, or a clock that was set back.
local function set_free(lock, free, remember, ahead)
  local set = ahead and redis.pcall('SET', lock, free, 'KEEPTTL') or redis.pcall('SET', lock, free, 'PX', remember)
  -- Short of memory, SET is refused and DEL is not. The next token is still the engine's time.
  if set.err then redis.call('DEL', lock) end
end
