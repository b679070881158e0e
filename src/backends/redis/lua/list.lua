-- Who of many keys has a holder. Reads only.
--   KEYS  locks
--   ->    now, then for each that is not free its place in KEYS, from 0, and the claim that is alone there
--         (include/standing.lua), nothing where there is a line, which inspect.lua reads, or "! <error>"
local TIME = redis.call('TIME')
-- @include alone
-- @include standing
local replies = { now }

local function look(key)
  local value = redis.pcall('GET', key)
  -- Most are: a last ticket, and nobody.
  if not value or not value.err and value:sub(1, 7) == '1 free ' then return nil end
  if kind_of(value) == '1 line ' then return '' end
  return standing(1, value:sub(8))
end

for i, key in ipairs(KEYS) do
  local found = safely(look, key)
  if found then
    replies[#replies + 1] = i - 1
    replies[#replies + 1] = found
  end
end
return replies
