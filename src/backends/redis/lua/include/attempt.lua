-- One attempt.
local function attempt(key, asked, keep_for, value)
  if now > asked:sub(1, 16) then return '-1 ' .. now end
  local at_least = asked:byte(17) ~= 45 and asked:sub(17, 32) or nil
  local queue, span, claim = asked:sub(33, 33) == '1', asked:sub(35, 38), asked:sub(40)
  local reply = alone(key, value, claim, span, keep_for, queue, at_least)
  if reply then return reply end
  open(key, value, keep_for - claim:match('^%S+ %d+ %d+ (%d+)'))
  return enter(claim, span, keep_for, queue, at_least)
end
