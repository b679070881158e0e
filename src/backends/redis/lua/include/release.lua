-- Gives up one hold or place.
local function release(key, id, value)
  local kind = kind_of(value)
  if kind == '1 sole ' and value:sub(47, 47 + #id) == id .. ' ' then
    set_free(key, value:sub(8, 28))
    return 1
  end
  if kind ~= '1 line ' then return 0 end
  open(key, value)
  local freed = leave(id)
  settle()
  save()
  return freed
end
