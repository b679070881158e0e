-- A portion of a line, so that no script is long: holders first, those whose lease ends soonest before the others, since a renewal
-- moves one on to where it is still met; then who waits. A place is `h <score> <n>`, where the next portion begins with the
-- nth of the holders of that score, or `w <score>`, behind the waiter of that score.
local PORTION = 500

-- Gives ids and scores in turn, and the place of what follows; nil where nothing does.
local function portion(lock, place)
  local score, skipped = place:match('^h (%S+) (%d+)$')
  local found
  if place == '' or score then
    skipped = tonumber(skipped or 0)
    found = redis.call('ZREVRANGEBYSCORE', lock .. ':line', score or 0, '-inf', 'WITHSCORES', 'LIMIT', skipped, PORTION)
    if #found < 2 * PORTION then return found, 'w 0' end
    local last = found[#found]
    local same = last == score and skipped or 0
    for i = #found, 2, -2 do
      if found[i] ~= last then break end
      same = same + 1
    end
    return found, ('h %s %d'):format(last, same)
  end
  found = redis.call('ZRANGEBYSCORE', lock .. ':line', '(' .. place:sub(3), '+inf', 'WITHSCORES', 'LIMIT', 0, PORTION)
  return found, #found == 2 * PORTION and 'w ' .. found[#found] or nil
end
