-- Gives up one hold or place: its keys are KEYS[k]…
local function release(k, id, value)
  local kind = kind_of(value)
  if kind == '1 sole ' and value:sub(59, 59 + #id) == id .. ' ' then
    set_free(KEYS[k], value:sub(8, 23))
    return 1
  end
  if kind ~= '1 line ' then return 0 end
  open(KEYS[k], KEYS[k + 1], KEYS[k + 2], value)
  local freed = leave(id)
  settle()
  save()
  return freed
end
