-- Runs every writing command of a step, but leaves no change. So a missing right shows here, and not in the middle of a step,
-- which would be left half done.
--   KEYS  as step.lua
--   ->    1
local call = redis.call
-- The commands that remove come first, because they must clean up after the others.
call('HDEL', KEYS[2], '')
call('ZREM', KEYS[4], '')
call('ZADD', KEYS[4], 'XX', 0, '')
call('HSET', KEYS[2], '', '')
call('HDEL', KEYS[2], '')
call('HSETNX', KEYS[2], '', '')
call('HDEL', KEYS[2], '')
call('HINCRBY', KEYS[3], '', 0)
call('HDEL', KEYS[3], '')
return 1
