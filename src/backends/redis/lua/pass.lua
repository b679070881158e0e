-- Gives up a hold or a place and, in the same step, lets the process's next claim stand in line. The release is never too
-- late; the next claim may be.
--   KEYS  lock; of a Cluster, then the others
--   ARGV  what release.lua takes, then what attempt.lua takes for the next claim
--   ->    the reply of release.lua and that of attempt.lua
-- @include lock
local now = clock()
local time = tonumber(now)
-- @include take
-- @include free
-- @include line
-- @include contended
-- @include attempt
-- @include release
local freed = safely(release, KEYS[1], ARGV[1])
if type(freed) == 'table' then return freed end
local reply = safely(attempt, KEYS[1], ARGV[2], ARGV[3])
return type(reply) == 'table' and reply or { freed, reply }
