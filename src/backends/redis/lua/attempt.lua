-- Takes holds or, if asked to, takes or keeps places: any number of claims, each on its own. Repeating one is harmless and
-- a sign of life.
--   KEYS  per claim: lock; of a Cluster, then the others (see src/backends/redis/keys.ts)
--   ARGV  per claim: what is asked (`asked` of src/backends/redis/layout.ts), ms to keep the key
--   ->    per claim, and of one claim by itself: an array costs the server one write more than the answer
--         granted    "<token> <now> <tokenCount>"
--         refused    "0 <now> <how many are ahead> <ms to the earliest expiry among the holders>"
--         late       "-1 <now>"
--         ask again  "-2 <now>": too many have to be passed for one script; it goes on from there
--         failed     "! <error>"
-- @include lock
local now = clock()
local time = tonumber(now)
-- @include take
-- @include free
-- @include line
-- @include contended
-- @include attempt
local count = #ARGV / 2
if count == 1 then return safely(attempt, KEYS[1], ARGV[1], ARGV[2]) end
local replies = {}
for i = 1, count do
  replies[i] = safely(attempt, KEYS[i], ARGV[2 * i - 1], ARGV[2 * i])
  if type(replies[i]) == 'table' then return replies[i] end
end
return replies
