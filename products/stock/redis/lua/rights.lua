-- Changes nothing, by every command that a step changes something with: a right that is missing shows here, and not in the
-- middle of a step, which would leave half of it done.
--   KEYS  as step.lua
--   ->    1
local call = redis.call
-- First those that take away, for what the others put there.
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
