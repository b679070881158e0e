-- The words under the key of a lock, and how often it was begun without any: one text beside it, in the form of
-- src/backends/shared/record.ts. Times are µs.
local function words_of(lock)
  local value = redis.pcall('GET', lock .. ':left')
  if not value then return nil end
  if value.err then error(value.err, 0) end
  local attempts, begun, mark, counts, token, since, ends, text = value:match('^1 (%d+) (%d+) (%S+) (%d+) (%d+) (%d+) (%d+) (.*)$')
  if not attempts then error(UNREADABLE, 0) end
  return {
    attempts = tonumber(attempts), begun = begun, mark = mark, counts = tonumber(counts),
    token = token, since = tonumber(since), ends = tonumber(ends), text = text,
  }
end

local function keep_words(lock, words)
  local head = ('1 %d %s %s %.0f %s %.0f %.0f '):format(words.attempts, words.begun, words.mark, words.counts, words.token, words.since, words.ends)
  local vanishes = math.ceil(math.max(words.counts, words.ends) / 1000)
  redis.call('SET', lock .. ':left', head .. words.text, 'PXAT', ('%.0f'):format(vanishes))
end
