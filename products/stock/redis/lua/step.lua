-- One atomic step on one cell of a product: the rule of products/stock/rule.ts, for Redis. First, reservations that have run out come back.
--   KEYS  cell (hash), requests (hash: id -> `request` of ../layout.ts), bought (hash: buyer -> units), due (zset: id by until)
--   ARGV  the steps, a JSON array of `Step` of cell.ts
--   ->    the replies, a JSON array, as text
local CELL, REQUESTS, BOUGHT, DUE = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
-- MOST: how many reservations one step gives back; the next step does the rest. PORTION: about how many requests one step adds up.
-- Each takes about 2 ms of a step, which takes 5 ms at most.
local MOST = 150
local PORTION = 500
local FIELDS = { 'v', 'epoch', 'free', 'reserved', 'sold', 'put', 'in', 'out', 'generation', 'seq', 'fence' }

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local cell, changed = nil, {}
local values = redis.call('HMGET', CELL, unpack(FIELDS))
if values[1] then
  if values[1] ~= '1' then return redis.error_reply('HOLDFAST a cell in a format this version does not know') end
  cell = {}
  for i, field in ipairs(FIELDS) do cell[field] = field == 'fence' and values[i] or tonumber(values[i]) end
end

local function set(field, value)
  cell[field] = value
  changed[field] = value
end
local function add(field, units)
  set(field, cell[field] + units)
end

local function entry_of(id)
  local text = redis.call('HGET', REQUESTS, id)
  if not text then return nil end
  local status, units, til, buyer = text:match($request[status, units, til, buyer])
  return { status = status, units = tonumber(units), til = tonumber(til), buyer = buyer }
end
local function text_of(status, units, til, buyer)
  units, til = ('%.0f'):format(units), ('%.0f'):format(til)
  return $request{status, units, til, buyer}
end
local function write(id, entry)
  redis.call('HSET', REQUESTS, id, text_of(entry.status, entry.units, entry.til, entry.buyer))
end
local function reply_of(is, entry)
  return { is = is, units = entry.units, buyer = entry.buyer, ['until'] = entry.til, now = now }
end
local function bought_by(buyer)
  return buyer == '' and 0 or tonumber(redis.call('HGET', BOUGHT, buyer) or 0)
end
local function count(buyer, units)
  if buyer ~= '' and redis.call('HINCRBY', BOUGHT, buyer, units) <= 0 then redis.call('HDEL', BOUGHT, buyer) end
end
local function give_back(id, entry, status)
  add('free', entry.units)
  add('reserved', -entry.units)
  add('generation', 1)
  count(entry.buyer, -entry.units)
  redis.call('ZREM', DUE, id)
  entry.status, entry.til = status, 0
  write(id, entry)
end
-- Gives back up to MOST reservations that have run out, with a few commands for all of them.
local function give_back_due()
  local ids = redis.call('ZRANGEBYSCORE', DUE, '-inf', now, 'LIMIT', 0, MOST)
  if #ids == 0 then return end
  local texts, rows = redis.call('HMGET', REQUESTS, unpack(ids)), {}
  local buyers, bought, all = {}, {}, 0
  for i, id in ipairs(ids) do
    local units, buyer = texts[i]:match($request[units, buyer])
    rows[2 * i - 1], rows[2 * i] = id, text_of('expired', units, 0, buyer)
    all = all + units
    if buyer ~= '' then
      if not bought[buyer] then buyers[#buyers + 1] = buyer end
      bought[buyer] = (bought[buyer] or 0) + units
    end
  end
  if #buyers > 0 then
    local had, left, none = redis.call('HMGET', BOUGHT, unpack(buyers)), {}, {}
    for i, buyer in ipairs(buyers) do
      local rest = (had[i] or 0) - bought[buyer]
      if rest > 0 then
        left[#left + 1] = buyer
        left[#left + 1] = ('%.0f'):format(rest)
      else
        none[#none + 1] = buyer
      end
    end
    if #left > 0 then redis.call('HSET', BOUGHT, unpack(left)) end
    if #none > 0 then redis.call('HDEL', BOUGHT, unpack(none)) end
  end
  redis.call('ZREM', DUE, unpack(ids))
  redis.call('HSET', REQUESTS, unpack(rows))
  add('free', all)
  add('reserved', -all)
  add('generation', #ids)
end
-- A request as it is now. If more than MOST reservations have run out, some have not come back yet, so this is done here.
local function known_as(id)
  local entry = entry_of(id)
  if entry and entry.status == 'reserved' and entry.til <= now then give_back(id, entry, 'expired') end
  return entry
end
-- Tokens are compared as text of digits: Lua's numbers are exact only up to 2^53.
local function fenced(token)
  if token == '' or token == cell.fence then return false end
  if #cell.fence > #token or (#cell.fence == #token and cell.fence > token) then return true end
  set('fence', token)
  return false
end
local function whole()
  local copy = { moves = {}, seen = {} }
  for _, field in ipairs(FIELDS) do copy[field] = cell[field] end
  local all = redis.call('HGETALL', CELL)
  for i = 1, #all, 2 do
    local kind, other = all[i]:match('^([ms])(%-?%d+)$')
    if kind == 's' then
      copy.seen[other] = tonumber(all[i + 1])
    elseif kind == 'm' then
      local seq, units = all[i + 1]:match($move[seq, units])
      copy.moves[other] = { seq = tonumber(seq), units = tonumber(units) }
    end
  end
  return copy
end

local answer = {}
function answer.put(step)
  local known = entry_of(step.id)
  if known then return { is = known.units == step.units and known.status or 'reused' } end
  if step.epoch ~= cell.epoch then return { is = 'stale' } end
  write(step.id, { status = 'put', units = step.units, til = 0, buyer = '' })
  add('put', step.units)
  add('free', step.units)
  add('generation', 1)
  return { is = 'done' }
end
function answer.take(step)
  if step.epoch ~= cell.epoch then return { is = 'stale' } end
  if fenced(step.token) then return { is = 'fenced' } end
  local known = known_as(step.id)
  if known then
    local same = known.units == step.units and known.buyer == step.buyer
    if not same or (step.ttl == 0 and known.status == 'reserved') then return { is = 'reused' } end
    return reply_of(known.status, known)
  end
  if step.limit > 0 then
    local bought = step.already + bought_by(step.buyer)
    if bought + step.units > step.limit then return { is = 'limit', bought = bought } end
  end
  if cell.free < step.units then return { is = 'empty' } end
  local entry = { status = 'sold', units = step.units, til = 0, buyer = step.buyer }
  if step.ttl > 0 then
    entry.status, entry.til = 'reserved', now + step.ttl
    redis.call('ZADD', DUE, ('%.0f'):format(entry.til), step.id)
  end
  write(step.id, entry)
  count(step.buyer, step.units)
  add('free', -step.units)
  add(entry.status, step.units)
  return reply_of('done', entry)
end
function answer.settle(step)
  if fenced(step.token) then return { is = 'fenced' } end
  local entry = known_as(step.id)
  if not entry or entry.status == 'put' then return { is = 'unknown' } end
  if entry.status ~= 'reserved' then return reply_of(entry.status, entry) end
  if step.to == 'cancelled' then
    give_back(step.id, entry, 'cancelled')
  else
    redis.call('ZREM', DUE, step.id)
    entry.status, entry.til = 'sold', 0
    write(step.id, entry)
    add('reserved', -entry.units)
    add('sold', entry.units)
  end
  return reply_of('done', entry)
end
function answer.find(step)
  local entry = known_as(step.id)
  local reply = entry and reply_of(entry.status, entry) or { is = 'unknown' }
  reply.bought = bought_by(step.buyer)
  return reply
end
function answer.send(step)
  local field = ('m%.0f'):format(step.to)
  local move = redis.call('HGET', CELL, field)
  if move then
    local seq, units = move:match($move[seq, units])
    return { is = 'busy', seq = tonumber(seq), units = tonumber(units) }
  end
  local units = math.min(step.units, cell.free)
  if units <= 0 then return { is = 'empty' } end
  add('seq', 1)
  add('free', -units)
  add('out', units)
  add('generation', 1)
  redis.call('HSET', CELL, field, $move{seq = ('%.0f'):format(cell.seq), units = ('%.0f'):format(units)})
  return { is = 'done', seq = cell.seq, units = units }
end
function answer.receive(step)
  local field = ('s%.0f'):format(step.from)
  if step.seq > tonumber(redis.call('HGET', CELL, field) or 0) then
    redis.call('HSET', CELL, field, ('%.0f'):format(step.seq))
    add('free', step.units)
    add('in', step.units)
    add('generation', 1)
  end
  return { is = 'done' }
end
function answer.clear(step)
  local field = ('m%.0f'):format(step.to)
  local move = redis.call('HGET', CELL, field)
  if move and tonumber(move:match($move[seq])) == step.seq then redis.call('HDEL', CELL, field) end
  return { is = 'done' }
end
function answer.look()
  return { is = 'done', cell = whole() }
end
function answer.tally(step)
  local sums = { reserved = 0, sold = 0 }
  local scanned = redis.call('HSCAN', REQUESTS, step.from or '0', 'COUNT', PORTION)
  local all = scanned[2]
  for i = 2, #all, 2 do
    local status, units = all[i]:match($request[status, units])
    if sums[status] then sums[status] = sums[status] + units end
  end
  local reply = { is = 'done', cell = whole(), reserved = sums.reserved, sold = sums.sold }
  if step.from or scanned[1] ~= '0' then reply.counted, reply.requests = #all / 2, redis.call('HLEN', REQUESTS) end
  if scanned[1] ~= '0' then reply.next = scanned[1] end
  return reply
end
function answer.open(step)
  if not cell then
    cell = {}
    for _, field in ipairs(FIELDS) do set(field, field == 'fence' and '' or 0) end
    set('v', 1)
  end
  set('epoch', math.max(cell.epoch, step.epoch))
  return { is = 'done' }
end

local steps = cjson.decode(ARGV[1])
-- Runs the reads before any change, so that a missing right does not leave a step half done.
for _, step in ipairs(steps) do
  if step.op == 'look' or step.op == 'tally' then redis.call('HGETALL', CELL) end
  if step.op == 'tally' then redis.call('HSCAN', REQUESTS, '0', 'COUNT', 1, 'MATCH', '') redis.call('HLEN', REQUESTS) end
end
if cell then give_back_due() end
local replies = {}
for i, step in ipairs(steps) do
  replies[i] = (cell or step.op == 'open') and answer[step.op](step) or { is = 'missing' }
end
local pairs_to_set = {}
for field, value in pairs(changed) do
  pairs_to_set[#pairs_to_set + 1] = field
  pairs_to_set[#pairs_to_set + 1] = field == 'fence' and value or ('%.0f'):format(value)
end
if #pairs_to_set > 0 then redis.call('HSET', CELL, unpack(pairs_to_set)) end
return cjson.encode(replies)
