-- @part lock
-- The part that every script includes. A lock without a queue is one string, so that the common case is one read and one write. The
-- fields of the string are declared in src/backends/redis/layout.ts: `$sole.token` is the token of a single claim.
-- Tokens are times of the server, so they grow even after the data is lost. A key that nobody uses is kept for `remember` ms, and
-- at least until its last token is behind the clock.
-- Scripts derive the two other keys of a lock from its key; all share a hash tag. So a command to a single server names one key,
-- not three.
-- Each call of a script defines its functions again, which takes about 0.1 µs per function. So a script defines the functions of a
-- queue only when it meets the first queue.

-- The server's time, µs, in 16 digits.
local function clock()
  local time = redis.call('TIME')
  return time[1] .. ('0'):rep(6 - #time[2]) .. time[2]
end

local UNREADABLE = 'HOLDFAST the key holds something else, or a format this version does not know'

-- Gives the kind of a lock's string: free, sole or queue; free if there is no string. Raises an error if the server replied with
-- one, or if the string is not ours.
local function kind_of(value)
  if not value then return $free end
  if value.err then error(value.err, 0) end
  local kind = value:sub($free.kind)
  if #value < $free.length or kind ~= $free and kind ~= $sole and kind ~= $queue then error(UNREADABLE, 0) end
  return kind
end

-- Answers one of several requests: an error becomes the reply to this request only. Redis 7 and newer replace `pcall` by their own
-- (`luaRedisPcall` in script_lua.c), which gives the text of a server's error. Older ones give the error as a table.
-- An error of the whole server, not of one key, is returned as a table and becomes the reply of the whole script. The table keeps
-- the words of the server, so that the client's own logic recognizes the error (reconnectOnError of ioredis, node-redis behind
-- sentinels).
local function safely(act, key, asked, keep)
  local done, reply = pcall(act, key, asked, keep)
  if done then return reply end
  local of_server = { READONLY = true, MISCONF = true, NOREPLICAS = true, LOADING = true, MASTERDOWN = true, CLUSTERDOWN = true }
  local text = type(reply) == 'table' and reply.err or tostring(reply)
  text = text:gsub('^@user_script: ?%d+: ', '')
  -- Before Redis 7, `ERR` and a position may stand before the code. The pattern does not find ERR, which has only three letters.
  local at, _, code = text:find('(%u%u%u%u%u+) ')
  if of_server[code] then return { err = text:sub(at) } end
  return '! ' .. text
end

-- Answers the requests of one script; each request has `width` arguments. A single request gets its reply without an array, since
-- an array costs the server one more write.
local function answer(act, width)
  if #ARGV == width then return safely(act, KEYS[1], ARGV[1], ARGV[2]) end
  local replies = {}
  for i = 1, #ARGV / width do
    replies[i] = safely(act, KEYS[i], ARGV[width * (i - 1) + 1], ARGV[width * i])
    if type(replies[i]) == 'table' then return replies[i] end
  end
  return replies
end
