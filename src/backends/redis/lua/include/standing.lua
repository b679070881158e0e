-- A claim as a listing has it: <1 held or 0> <token> <expiry> <take> <of> <label>; nil where it has expired. Ids and channels stay here.
local function standing(held, record, holds_until)
  local units, capacity, ttl, label = record:match($record[units, capacity, ttl, label])
  local expiry = holds_until or record:sub($record.seen) + ttl * 1000
  if expiry <= time then return nil end
  -- Formatted, the label would end at a zero byte.
  return ('%d %s %.0f %s %s '):format(held, record:sub($record.token), expiry, units, capacity) .. label
end
