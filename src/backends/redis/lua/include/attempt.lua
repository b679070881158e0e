-- One attempt: the claim's keys are KEYS[k]…, its arguments ARGV[a]….
local function attempt(k, a, value)
  if now > ARGV[a + 1] then return '-1 ' .. now end
  local at_least = ARGV[a + 5] ~= '' and ARGV[a + 5] or nil
  local reply = alone(KEYS[k], value, now, ARGV[a], ARGV[a + 2], ARGV[a + 3], ARGV[a + 4], at_least)
  if reply then return reply end
  open(KEYS[k], KEYS[k + 1], KEYS[k + 2], value)
  return enter(ARGV[a], ARGV[a + 2], ARGV[a + 3], ARGV[a + 4], at_least)
end
