-- @part lock
-- What every script knows of a lock. A lock without a queue is one string, so that the common case is one read and one write. The
-- fields of the string are those of src/backends/redis/layout.ts: `$sole.token` is the token of a claim that is alone.
-- Tokens are times, so that they grow even if the data is lost. A key that nobody uses is kept for a while (`remember`, ms), and
-- until its last token is behind the clock.
-- The two other keys of a lock are named after it and share its hash tag, so that a command names one key, not three.
-- Every call of a script defines its functions again, at about a tenth of a microsecond each. So a script defines the functions of
-- a queue when it meets the first queue.

-- The server's time, in digits.
local function clock()
  local time = redis.call('TIME')
  return time[1] .. ('0'):rep(6 - #time[2]) .. time[2]
end

local UNREADABLE = 'HOLDFAST the key holds something else, or a format this version does not know'

-- The kind of a lock's string: free, sole, or a queue. Raises the error of the server, and an error for a string that is not ours.
local function kind_of(value)
  if not value then return $free end
  if value.err then error(value.err, 0) end
  local kind = value:sub($free.kind)
  if #value < $free.length or kind ~= $free and kind ~= $sole and kind ~= $queue then error(UNREADABLE, 0) end
  return kind
end

-- Answers one of several requests: an error is the reply to this request only. The server raises text or a table. Since 7 its own
-- `pcall` gives the text of a table (`luaRedisPcall` in its script_lua.c); before, it gives the table.
-- An error of the whole server, not of one key, is given as a table, which becomes the reply of the whole script. It has the words of
-- the server, so that the client's own logic knows it (ioredis' reconnectOnError, node-redis behind sentinels).
local function safely(act, key, asked, keep)
  local done, reply = pcall(act, key, asked, keep)
  if done then return reply end
  local of_server = { READONLY = true, MISCONF = true, NOREPLICAS = true, LOADING = true, MASTERDOWN = true, CLUSTERDOWN = true }
  local text = type(reply) == 'table' and reply.err or tostring(reply)
  text = text:gsub('^@user_script: ?%d+: ', '')
  -- Before 7 there may be more of a position before the code, and before that ERR, which has only three letters.
  local at, _, code = text:find('(%u%u%u%u%u+) ')
  if of_server[code] then return { err = text:sub(at) } end
  return '! ' .. text
end

-- Answers the requests of one script, each of `width` arguments. The reply to a single request is no array, which would cost the
-- server one more write.
local function answer(act, width)
  if #ARGV == width then return safely(act, KEYS[1], ARGV[1], ARGV[2]) end
  local replies = {}
  for i = 1, #ARGV / width do
    replies[i] = safely(act, KEYS[i], ARGV[width * (i - 1) + 1], ARGV[width * i])
    if type(replies[i]) == 'table' then return replies[i] end
  end
  return replies
end
