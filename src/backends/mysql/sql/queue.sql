-- name: create
-- The row of a key that was never used, or was swept. Its tokens start from the floor. The shared lock keeps the floor
-- where it is until the row is there: a plain read could be older than a sweep that takes the same key away.
-- Not INSERT IGNORE: over the remains of a row that was just swept it takes a shared lock and then wants an exclusive one,
-- which is a deadlock with a statement that waits in between. This takes the exclusive one from the start
-- (https://dev.mysql.com/doc/refman/8.0/en/innodb-locks-set.html).
INSERT INTO {table} (name, token, used, queue, value)
SELECT :name, own.token, {latest}, '', '' FROM {table} AS own WHERE own.name = '' LOCK IN SHARE MODE
ON DUPLICATE KEY UPDATE used = VALUES(used)

-- name: read
-- The queues of some keys, and the server's time. No locks: a queue that was read late shows a claim behind others that have
-- left, never before others that are still there. The table's own row comes, too: without a row nothing would tell of a
-- transaction that was left open, which sees the table as it was when that began.
-- {list}
SELECT name, queue, {earliest} AS now, {open} AS open FROM {table} WHERE name IN ('', {list})

-- name: list
-- Of the names from :from up to, but not including, :to, those whose queue is not empty or, if :values is 1, of which memos keep something,
-- a page at a time. The table's own row comes first, as in `read`.
SELECT name, queue, {earliest} AS now, {open} AS open FROM {table}
WHERE name = '' OR (
  name >= :from AND name < :to AND IF(CAST(:values AS UNSIGNED), value_ends > {earliest}, queue <> '')
)
ORDER BY name LIMIT 200

-- name: join
-- Joins the queue at its end, if the queue is empty or, when the claim queues, any queue.
--
-- A claim is the text `@id expires token units capacity ttl joined process label;`. expires, always of 16 digits, is when it
-- expires as a hold. process is its address for wake-ups. Who holds is not stored: it follows from the order and the units (src/core/contract/admission.ts).
--
-- :name, :mark (`@id `), :waits (0 or 1), :minToken (lowest token), :tokenCount (tokens to reserve)
-- :ttl (µs), :units (` units capacity ttl `), :tail (` process label;`), :notAfter (the server's time after which it is too late)
-- Result: no row changed: too late, no such row, there already, no room, or the queue is not empty and the claim does not queue.
--         insertId: the token, if the queue was empty; else 0, and the queue has to be read.
UPDATE {table}
SET queue = CONCAT(
      queue, :mark, {latest} + CAST(:ttl AS SIGNED), ' ', GREATEST(token + 1, CAST(:minToken AS UNSIGNED)),
      :units, {latest}, :tail
    ),
    token = GREATEST(token + 1, CAST(:minToken AS UNSIGNED)) + CAST(:tokenCount AS UNSIGNED) - 1,
    used = {latest}
WHERE name = :name
  AND (queue = '' OR (CAST(:waits AS UNSIGNED) = 1 AND INSTR(queue, :mark) = 0))
  AND {latest} <= CAST(:notAfter AS SIGNED)
  AND {room}
  AND LAST_INSERT_ID(IF(queue = '', GREATEST(token + 1, CAST(:minToken AS UNSIGNED)), 0)) >= 0

-- name: exchange
-- Gives up a hold that has not expired, and in the same step another claim joins the queue at its end. As two statements a crowd in one
-- process has half of the hand-overs.
-- :gone (`@id ` of the hold), the rest as in `join`
-- Result: no row changed: nothing to give up, no room, or too late.
--         insertId: the token, if nobody else stands in the queue; else 0, and the queue has to be read.
UPDATE {table}
SET queue = CONCAT(
      SUBSTRING_INDEX(queue, :gone, 1),
      SUBSTRING(queue, LOCATE(';', queue, INSTR(queue, :gone)) + 1),
      :mark, {latest} + CAST(:ttl AS SIGNED), ' ', GREATEST(token + 1, CAST(:minToken AS UNSIGNED)),
      :units, {latest}, :tail
    ),
    token = GREATEST(token + 1, CAST(:minToken AS UNSIGNED)) + CAST(:tokenCount AS UNSIGNED) - 1,
    used = {latest}
WHERE name = :name
  AND INSTR(queue, :gone) > 0
  AND INSTR(queue, :mark) = 0
  AND SUBSTRING(queue, INSTR(queue, :gone) + LENGTH(:gone), 16) > CAST({earliest} AS CHAR)
  AND {latest} <= CAST(:notAfter AS SIGNED)
  AND {room}
  AND LAST_INSERT_ID(
    IF(INSTR(queue, :gone) = 1 AND LOCATE(';', queue) = LENGTH(queue), GREATEST(token + 1, CAST(:minToken AS UNSIGNED)), 0)
  ) >= 0

-- name: leave
-- Gives up a hold, or a claim that waits.
-- :name, :mark (`@id `)
-- Result: no row changed: there was none.
--         insertId: 1 if it had not expired as a hold, plus 2 if others stand in the queue.
UPDATE {table}
SET queue = CONCAT(
      SUBSTRING_INDEX(queue, :mark, 1),
      SUBSTRING(queue, LOCATE(';', queue, INSTR(queue, :mark)) + 1)
    ),
    used = {latest}
WHERE name = :name
  AND INSTR(queue, :mark) > 0
  AND LAST_INSERT_ID(
    (SUBSTRING(queue, INSTR(queue, :mark) + LENGTH(:mark), 16) > CAST({earliest} AS CHAR))
    + 2 * (INSTR(queue, :mark) > 1 OR LOCATE(';', queue) < LENGTH(queue))
  ) >= 0

-- name: touch
-- A sign of life of many claims, at most one of each key: each expires its ttl from now, and if :keeps is 1 no sooner than it
-- would have. What has expired stays so.
-- {list}  one row per claim: name, mark (`@id `), ttl (µs); in the order of the names, so that two of these statements
--         never wait for each other in a circle
-- :notAfter  the server's time after which it is too late
-- Result: how many rows were changed.
UPDATE ({list}) AS claims STRAIGHT_JOIN {table} AS kept ON kept.name = claims.name
SET kept.queue = INSERT(
      kept.queue, INSTR(kept.queue, claims.mark) + LENGTH(claims.mark), 16, GREATEST(
        {latest} + CAST(claims.ttl AS SIGNED),
        CAST(:keeps AS SIGNED) * CAST(SUBSTRING(kept.queue, INSTR(kept.queue, claims.mark) + LENGTH(claims.mark), 16) AS SIGNED)
      )
    ),
    kept.used = {latest}
WHERE INSTR(kept.queue, claims.mark) > 0
  AND SUBSTRING(kept.queue, INSTR(kept.queue, claims.mark) + LENGTH(claims.mark), 16) > CAST({earliest} AS CHAR)
  AND {latest} <= CAST(:notAfter AS SIGNED)

-- name: row
-- All of the row of a key; NULL where there is none. For a server that was the primary: whether it takes no writes, since it does not know
-- what was stored since.
-- :name
SELECT kept.queue, kept.token, kept.value, {earliest} AS now, {latest} AS latest, {closed} AS closed, {open} AS open
FROM (SELECT 1) AS one LEFT JOIN {table} AS kept ON kept.name = :name

-- name: swap
-- Stores what a step has made of a row, unless the row has changed since it was read.
-- :name, :queue, :token, :value, :ends (when nothing of the value counts any more), and of the row as it was read :oldQueue, :oldToken, :oldValue
-- :notAfter  the server's time after which it is too late
UPDATE {table}
SET queue = :queue, token = CAST(:token AS UNSIGNED), value = :value, value_ends = CAST(:ends AS SIGNED), used = {latest}
WHERE name = :name AND queue = :oldQueue AND token = CAST(:oldToken AS UNSIGNED) AND value = :oldValue
  AND LENGTH(:queue) <= 16777215
  AND {latest} <= CAST(:notAfter AS SIGNED)

-- name: room
-- Whether the queue has room for one more claim, of 2,048 bytes at most. In a mode that is not strict, a CONCAT above
-- max_allowed_packet is no error but NULL, which empties the queue, and a value above the column's size is cut off.
LENGTH(queue) + 2048 <= LEAST(@@max_allowed_packet, 16777215)

-- name: valueForget
-- Forgets a value. It is sent with a name that no row has: a write that changes nothing.
-- :name
UPDATE {table} SET value = '', value_ends = 0 WHERE name = :name AND value_ends > {earliest}
