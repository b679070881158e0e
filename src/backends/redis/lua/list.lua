-- Who of many keys has a holder. Reads only.
--   KEYS  locks
--   ->    now, then for each that is not free its place in KEYS, from 0, and the claim that is alone there
--         (include/standing.lua), nothing where there is a line, which inspect.lua reads, or "! <error>"
-- @include lock
local now = clock()
local time = tonumber(now)
-- @include standing
local replies = { now }

local function look(key)
  local value = redis.pcall('GET', key)
  local kind = kind_of(value)
  if kind == $free then return nil end
  return kind == $line and '' or standing(1, value:sub($sole.token.at))
end

for i, key in ipairs(KEYS) do
  local found = safely(look, key)
  if found then
    replies[#replies + 1] = i - 1
    replies[#replies + 1] = found
  end
end
return replies
