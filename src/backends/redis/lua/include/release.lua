-- Gives up one hold or place. `asked`: its id, and for how long its last ticket is remembered, ms.
local function release(key, asked)
  local value = redis.pcall('GET', key)
  local kind = kind_of(value)
  if kind == $free then return 0 end
  local id, remember = asked:match('^(%S+) (%d+)$')
  if kind == $sole then
    if value:match($sole[id]) ~= id then return 0 end
    local ticket = value:sub($sole.ticket)
    -- What is not ahead of its last sign of life is not ahead of the clock, which need not be asked then.
    local ahead = ticket > value:sub($sole.seen) and ticket > clock()
    set_free(key, $free{ticket, span = value:sub($sole.span)}, remember, ahead)
    return 1
  end
  local line = open(key, value, clock(), remember)
  local freed = line:leave(id)
  line:settle()
  line:save()
  return freed + (line.more and 2 or 0)
end
