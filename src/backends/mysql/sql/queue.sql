-- name: create
-- The row of a key that was never used, or was swept. Its tokens start from the floor. The shared lock keeps the floor
-- where it is until the row is there: a plain read could be older than a sweep that takes the same key away.
-- Not INSERT IGNORE: over the remains of a row that was just swept it takes a shared lock and then wants an exclusive one,
-- which is a deadlock with a statement that waits in between. This takes the exclusive one from the start
-- (https://dev.mysql.com/doc/refman/8.0/en/innodb-locks-set.html).
INSERT INTO {table} (name, token, used, line)
SELECT :name, own.token, {latest}, '' FROM {table} AS own WHERE own.name = '' LOCK IN SHARE MODE
ON DUPLICATE KEY UPDATE used = VALUES(used)

-- name: read
-- The lines of some keys, and the server's time. No locks: a line that was read late shows a claim behind others that have
-- left, never before others that are still there. The table's own row comes, too: without a row nothing would tell of a
-- transaction that was left open, which sees the table as it was when that began.
-- {list}
SELECT name, line, {earliest} AS now, {open} AS open FROM {table} WHERE name IN ('', {list})

-- name: list
-- The lines that are not empty, of the names from :from up to, but not including, :to, a page at a time.
-- The table's own row comes first, as in `read`.
-- :from, :to
SELECT name, line, {earliest} AS now, {open} AS open FROM {table}
WHERE name = '' OR (name >= :from AND name < :to AND line <> '')
ORDER BY name LIMIT 200

-- name: join
-- Takes a place at the end of the line, if the line is :expected or, when the claim queues, any line.
--
-- A place is the text `@id until token take of ttl joined bell label;`. until, always of 16 digits, is when it expires as a
-- hold. Who holds is not stored: it follows from the order and the units (src/core/contract/admission.ts).
--
-- :name, :mark (`@id `), :expected, :queue (0 or 1), :minToken (lowest token), :tokenCount (tokens to reserve)
-- :ttl (µs), :units (` take of ttl `), :tail (` bell label;`), :notAfter (the server's time after which it is too late)
-- Result: no row changed: too late, no such row, there already, no room, or the line is another and the claim does not queue.
--         insertId: the token, if the line was :expected; else 0, and the line has to be read.
UPDATE {table}
SET line = CONCAT(
      line, :mark, {latest} + CAST(:ttl AS SIGNED), ' ', GREATEST(token + 1, CAST(:minToken AS UNSIGNED)),
      :seats, {latest}, :tail
    ),
    token = GREATEST(token + 1, CAST(:minToken AS UNSIGNED)) + CAST(:tokenCount AS UNSIGNED) - 1,
    used = {latest}
WHERE name = :name
  AND (line = :expected OR (CAST(:queue AS UNSIGNED) = 1 AND INSTR(line, :mark) = 0))
  AND {latest} <= CAST(:notAfter AS SIGNED)
  AND {room}
  AND LAST_INSERT_ID(IF(line = :expected, GREATEST(token + 1, CAST(:minToken AS UNSIGNED)), 0)) >= 0

-- name: exchange
-- Gives up a hold that has not expired, and in the same step takes a place for another claim at the end of the line.
-- :gone (`@id ` of the hold), the rest as in `join`
-- Result: no row changed: nothing to give up, no room, or too late.
--         insertId: the token, if nobody else stands in the line; else 0, and the line has to be read.
UPDATE {table}
SET line = CONCAT(
      SUBSTRING_INDEX(line, :gone, 1),
      SUBSTRING(line, LOCATE(';', line, INSTR(line, :gone)) + 1),
      :mark, {latest} + CAST(:ttl AS SIGNED), ' ', GREATEST(token + 1, CAST(:minToken AS UNSIGNED)),
      :seats, {latest}, :tail
    ),
    token = GREATEST(token + 1, CAST(:minToken AS UNSIGNED)) + CAST(:tokenCount AS UNSIGNED) - 1,
    used = {latest}
WHERE name = :name
  AND INSTR(line, :gone) > 0
  AND INSTR(line, :mark) = 0
  AND SUBSTRING(line, INSTR(line, :gone) + LENGTH(:gone), 16) > CAST({earliest} AS CHAR)
  AND {latest} <= CAST(:notAfter AS SIGNED)
  AND {room}
  AND LAST_INSERT_ID(
    IF(INSTR(line, :gone) = 1 AND LOCATE(';', line) = LENGTH(line), GREATEST(token + 1, CAST(:minToken AS UNSIGNED)), 0)
  ) >= 0

-- name: leave
-- Gives up a hold or a place.
-- :name, :mark (`@id `)
-- Result: no row changed: there was none.
--         insertId: 1 if it had not expired as a hold, plus 2 if others stand in the line.
UPDATE {table}
SET line = CONCAT(
      SUBSTRING_INDEX(line, :mark, 1),
      SUBSTRING(line, LOCATE(';', line, INSTR(line, :mark)) + 1)
    ),
    used = {latest}
WHERE name = :name
  AND INSTR(line, :mark) > 0
  AND LAST_INSERT_ID(
    (SUBSTRING(line, INSTR(line, :mark) + LENGTH(:mark), 16) > CAST({earliest} AS CHAR))
    + 2 * (INSTR(line, :mark) > 1 OR LOCATE(';', line) < LENGTH(line))
  ) >= 0

-- name: touch
-- A sign of life of many claims, at most one of each key: each expires its ttl from now, and if :keeps is 1 no sooner than it
-- would have. What has expired stays so.
-- {list}  one row per claim: name, mark (`@id `), ttl (µs); in the order of the names, so that two of these statements
--         never wait for each other in a circle
-- :notAfter  the server's time after which it is too late
-- Result: how many rows were changed.
UPDATE ({list}) AS claims STRAIGHT_JOIN {table} AS kept ON kept.name = claims.name
SET kept.line = INSERT(
      kept.line, INSTR(kept.line, claims.mark) + LENGTH(claims.mark), 16, GREATEST(
        {latest} + CAST(claims.ttl AS SIGNED),
        CAST(:keeps AS SIGNED) * CAST(SUBSTRING(kept.line, INSTR(kept.line, claims.mark) + LENGTH(claims.mark), 16) AS SIGNED)
      )
    ),
    kept.used = {latest}
WHERE INSTR(kept.line, claims.mark) > 0
  AND SUBSTRING(kept.line, INSTR(kept.line, claims.mark) + LENGTH(claims.mark), 16) > CAST({earliest} AS CHAR)
  AND {latest} <= CAST(:notAfter AS SIGNED)

-- name: swap
-- Puts another line in the place of the one that was read, unless it has changed meanwhile: how the dead are removed.
-- :name, :old, :new
UPDATE {table} SET line = :new, used = {latest} WHERE name = :name AND line = :old

-- name: room
-- Whether the line has room for one more place, of 2,048 bytes at most. In a mode that is not strict, a CONCAT above
-- max_allowed_packet is no error but NULL, which empties the line, and a value above the column's size is cut off.
LENGTH(line) + 2048 <= LEAST(@@max_allowed_packet, 16777215)
