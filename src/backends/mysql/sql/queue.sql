-- name: create
-- Makes the row of a key that was never used, or whose row was swept. Its tokens start from the floor. The shared lock keeps the floor from
-- moving until the row is there: a plain read of the floor could be older than a sweep that removes a row of the same key.
-- Not INSERT IGNORE: on a row that was just swept it first takes a shared lock and then wants an exclusive one, so it deadlocks with
-- a statement that waits in between. ON DUPLICATE KEY UPDATE takes the exclusive lock from the start
-- (https://dev.mysql.com/doc/refman/8.0/en/innodb-locks-set.html).
INSERT INTO {table} (name, token, used, queue, value)
SELECT :name, own.token, {latest}, '', '' FROM {table} AS own WHERE own.name = '' LOCK IN SHARE MODE
ON DUPLICATE KEY UPDATE used = VALUES(used)

-- name: read
-- Reads the queues of some keys, and the server's time. It takes no locks: an old version of a queue may show claims that have left, but
-- it has every claim ahead of a claim that is still there. The table's own row exists even if no key has a row, so `open` always comes. It
-- shows a transaction that was left open: inside it, the table would look as it did when that transaction began.
-- {list}
SELECT name, queue, {earliest} AS now, {open} AS open FROM {table} WHERE name IN ('', {list})

-- name: list
-- Reads one page of the names from :from (included) to :to (excluded). If :values is 1, these are the names with a value or attempts, else
-- those with a queue that is not empty. The table's own row comes first, as in `read`.
SELECT name, queue, {earliest} AS now, {open} AS open FROM {table}
WHERE name = '' OR (
  name >= :from AND name < :to AND IF(CAST(:values AS UNSIGNED), value_ends > {earliest}, queue <> '')
)
ORDER BY name LIMIT 200

-- name: next
-- The token of a claim that joins now.
GREATEST(token + 1, CAST(:minToken AS UNSIGNED))

-- name: newcomer
-- The text of a claim that joins now: `@id expires token units capacity ttl joined process label;`. `expires`, always of 16 digits, is when
-- the claim expires as a hold. `process` is the address for notifications. The text does not say who holds: that follows from the order of
-- the claims and their units (src/core/contract/admission.ts).
CONCAT(:mark, {latest} + CAST(:ttl AS SIGNED), ' ', {next}, :units, {latest}, :tail)

-- name: rest
-- The queue without the claim :gone.
CONCAT(SUBSTRING_INDEX(queue, :gone, 1), SUBSTRING(queue, LOCATE(';', queue, INSTR(queue, :gone)) + 1))

-- name: alive
-- Whether the claim :gone has not expired as a hold.
SUBSTRING(queue, INSTR(queue, :gone) + LENGTH(:gone), 16) > CAST({earliest} AS CHAR)

-- name: join
-- A claim joins the queue at its end, if the queue is empty or the claim waits.
-- :name, :mark (`@id `), :waits (0 or 1), :minToken (the lowest token allowed), :tokenCount (how many tokens to reserve)
-- :ttl (µs), :units (` units capacity ttl `), :tail (` process label;`), :notAfter (the server's time after which the claim comes too late)
-- Result: no row is changed if the claim is too late or in the queue already, if the key has no row or the queue no room, or if the queue is
--         not empty and the claim does not wait. insertId: the token, if the queue was empty; else 0, and the queue has to be read.
UPDATE {table}
SET queue = CONCAT(queue, {newcomer}), token = {next} + CAST(:tokenCount AS UNSIGNED) - 1, used = {latest}
WHERE name = :name
  AND (queue = '' OR (CAST(:waits AS UNSIGNED) = 1 AND INSTR(queue, :mark) = 0))
  AND {latest} <= CAST(:notAfter AS SIGNED)
  AND {room}
  AND LAST_INSERT_ID(IF(queue = '', {next}, 0)) >= 0

-- name: exchange
-- A hold that has not expired leaves the queue, and another claim joins at the end of the queue in the same step. With
-- two statements instead of one, many callers in one process would have half as many hand-overs.
-- :gone (`@id ` of the hold), the rest as in `join`
-- Result: no row is changed if the hold is not there, the other claim is too late, or the queue has no room.
--         insertId: the token, if the other claim is alone in the queue; else 0, and the queue has to be read.
UPDATE {table}
SET queue = CONCAT({rest}, {newcomer}), token = {next} + CAST(:tokenCount AS UNSIGNED) - 1, used = {latest}
WHERE name = :name
  AND INSTR(queue, :gone) > 0
  AND INSTR(queue, :mark) = 0
  AND {alive}
  AND {latest} <= CAST(:notAfter AS SIGNED)
  AND {room}
  AND LAST_INSERT_ID(IF(INSTR(queue, :gone) = 1 AND LOCATE(';', queue) = LENGTH(queue), {next}, 0)) >= 0

-- name: leave
-- A claim leaves the queue, whether it holds or waits.
-- :name, :gone (`@id `)
-- Result: no row is changed if the claim is not there.
--         insertId: 1 if the claim had not expired as a hold, plus 2 if others are in the queue.
UPDATE {table}
SET queue = {rest}, used = {latest}
WHERE name = :name
  AND INSTR(queue, :gone) > 0
  AND LAST_INSERT_ID(({alive}) + 2 * (INSTR(queue, :gone) > 1 OR LOCATE(';', queue) < LENGTH(queue))) >= 0

-- name: touch
-- Renews many claims, at most one of each key: each now expires one ttl from now and, if :keeps is 1, no sooner than before. A claim that
-- has expired stays expired.
-- {list}  a row per claim: name, mark (`@id `), ttl (µs). The rows are in the order of the names, so two of these statements never wait for
--         each other in a circle.
-- :notAfter  the server's time after which the renewal comes too late
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
  AND (CAST(:keeps AS UNSIGNED) = 1 OR {count} = LENGTH({head}) - LENGTH(REPLACE({head}, ';', ''))
    AND {count} * SUBSTRING_INDEX({demand}, ' ', 1) <= SUBSTRING_INDEX(SUBSTRING_INDEX({demand}, ' ', 2), ' ', -1) + 0)

-- name: count
-- How many claims to the end of the claim have the same `units capacity ttl`. Without the ttl, `token units` may look like `units capacity`.
(LENGTH({head}) - LENGTH(REPLACE({head}, CONCAT(' ', {demand}, ' '), ''))) / (LENGTH({demand}) + 2)
-- name: head
LEFT(kept.queue, LOCATE(';', kept.queue, INSTR(kept.queue, claims.mark)))
-- name: demand
SUBSTRING_INDEX(SUBSTRING_INDEX(SUBSTRING(kept.queue, INSTR(kept.queue, claims.mark)), ' ', 6), ' ', -3)

-- name: row
-- Reads the row of a key; NULLs if there is none. `closed` shows a server that takes no writes, as the old primary of a fail-over,
-- which does not know what was stored since.
-- :name
SELECT kept.queue, kept.token, kept.value, {earliest} AS now, {latest} AS latest, {closed} AS closed, {open} AS open, {most} AS most
FROM (SELECT 1) AS one LEFT JOIN {table} AS kept ON kept.name = :name

-- name: swap
-- Stores what a step has made of a row, unless the row has changed since it was read.
-- :name, :queue, :token, :value, :ends (when the value and the attempts are over); as the row was read: :oldQueue, :oldToken, :oldValue
-- :notAfter  the server's time after which the step comes too late
UPDATE {table}
SET queue = :queue, token = CAST(:token AS UNSIGNED), value = :value, value_ends = CAST(:ends AS SIGNED), used = {latest}
WHERE name = :name AND queue = :oldQueue AND token = CAST(:oldToken AS UNSIGNED) AND value = :oldValue
  AND {latest} <= CAST(:notAfter AS SIGNED)

-- name: room
-- Whether the queue has room for one more claim, of 2,048 bytes at most. If the server's mode is not strict, a CONCAT above
-- max_allowed_packet is no error but NULL, which empties the queue, and a value above the size of the column is cut off.
LENGTH(queue) + 2048 <= {most}

-- name: most
-- The most bytes of a queue to which a claim is added. `swap` sends the queue twice, and twice a value of 64 KiB at most: a longer queue
-- could never be stored without a holder that has died. With a small max_allowed_packet, half of it is for the values.
LEAST((@@max_allowed_packet - LEAST(200000, @@max_allowed_packet DIV 2)) DIV 2, 16777215)
