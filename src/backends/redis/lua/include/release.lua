-- Gives up one hold or place. `asked`: its id, and for how long its last token is remembered, ms.
local function release(key, asked)
  local value = redis.pcall('GET', key)
  local kind = kind_of(value)
  if kind == $free then return 0 end
  local blank = asked:find(' ', 1, true)
  local remember = asked:sub(blank + 1)
  if kind == $sole then
    if value:sub($sole.words, $sole.words + blank - 1) ~= asked:sub(1, blank) then return 0 end
    local token = value:sub($sole.token)
    -- What is not ahead of its last sign of life is not ahead of the clock, which need not be asked then.
    local ahead = token > value:sub($sole.seen) and token > clock()
    set_free(key, $free{token, tokenCount = value:sub($sole.tokenCount)}, remember, ahead)
    return 1
  end
  return line_rule().withdraw(key, value, clock(), remember, asked:sub(1, blank - 1))
end
