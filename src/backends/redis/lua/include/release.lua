-- Gives up one hold or place. `asked`: its id, and for how long its last ticket is remembered, ms.
local function release(key, asked, value)
  local id, remember = asked:match('^(%S+) (%d+)$')
  local kind = kind_of(value)
  if kind == '1 sole ' and value:sub(47, 47 + #id) == id .. ' ' then
    set_free(key, value:sub(8, 28), remember)
    return 1
  end
  if kind ~= '1 line ' then return 0 end
  open(key, value, remember)
  local freed = leave(id)
  settle()
  save()
  return freed + (more and 2 or 0)
end
