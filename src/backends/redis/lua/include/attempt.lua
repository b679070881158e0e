-- One attempt. `asked` and `keep` as ARGV of attempt.lua has them.
local function attempt(key, asked, keep)
  if now > asked:sub($asked.notAfter) then return '-1 ' .. now end
  local value, sole_until = redis.pcall('GET', key), nil
  local kind = kind_of(value)
  if kind == $sole then
    local ttl = value:match($sole[ttl])
    if not ttl then error(UNREADABLE, 0) end
    sole_until = value:sub($sole.seen) + ttl * 1000
    if sole_until <= time then kind = $free end
  end
  if kind == $free then return take(key, value, asked, keep) end
  contend = contend or contention()
  return contend(key, value, sole_until, asked, keep)
end
