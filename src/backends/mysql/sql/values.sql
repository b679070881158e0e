-- name: valueRead
-- :name, :mark (`@id ` of the claim that asks)
-- One row: what memos keep of the key; whether the claim stands in the queue; the server's time; and whether the server takes no
-- writes, for one that was the primary does not know what was stored since.
SELECT COALESCE(kept.value, '') AS value, COALESCE(INSTR(kept.queue, :mark), 0) > 0 AS queued,
  {earliest} AS now, {closed} AS closed, {open} AS open
FROM (SELECT 1) AS one LEFT JOIN {table} AS kept ON kept.name = :name

-- name: valueKeys
-- The keys of which memos keep something, of the names from :from up to, but not including, :to, a page at a time.
-- :from, :to
SELECT name, {earliest} AS now, {open} AS open FROM {table}
WHERE name >= :from AND name < :to AND value_ends > {earliest}
ORDER BY name LIMIT 1000

-- name: valueCount
-- Writes another head before the text of a value, unless it has changed since it was read.
-- :name, :old (the head that was read; empty: there was nothing), :new, :ends (µs since 1970)
UPDATE {table} SET value = CONCAT(:new, SUBSTRING(value, LENGTH(:old) + 1)), value_ends = CAST(:ends AS SIGNED)
WHERE name = :name AND LEFT(value, LENGTH(:old)) = :old AND (:old <> '' OR value = '')

-- name: valueStore
-- Gives up an exclusive hold that has not expired, and stores a value in the same step, as `writeRecord` does. It is the first in its queue.
-- :name, :mark (`@id `), :text, :ttl (µs), :fresh (µs for which the value has no age yet)
-- Result: no row changed: it does not hold, or a CONCAT of the value would be larger than a packet: see `room`.
UPDATE {table}
SET value = CONCAT(
      '1 0 0 - 0 ', SUBSTRING_INDEX(SUBSTRING(queue, LENGTH(:mark) + 18), ' ', 1), ' ',
      IF(:fresh > 0, {latest} + CAST(:fresh AS SIGNED) + 999, {earliest}) DIV 1000, ' ',
      ({latest} + CAST(:ttl AS SIGNED) + 999) DIV 1000, ' ', :text
    ),
    value_ends = {latest} + CAST(:ttl AS SIGNED),
    queue = SUBSTRING(queue, LOCATE(';', queue) + 1),
    used = {latest}
WHERE name = :name
  AND INSTR(queue, :mark) = 1
  AND SUBSTRING(queue, LENGTH(:mark) + 1, 16) > CAST({earliest} AS CHAR)
  AND LENGTH(:text) + 512 <= @@max_allowed_packet

-- name: valueForget
UPDATE {table} SET value = '', value_ends = 0 WHERE name = :name AND value_ends > {earliest}

-- name: hintRead
-- Hints of processes for each other beside the locks: advice, which may be gone. Each has a row under a name that no key has.
-- :name. One row: its text, NULL where there is none whose time is not over; and whether the server takes no writes, for one that was
-- the primary does not know what was written since.
SELECT hint.value AS text, {closed} AS closed, {open} AS open
FROM (SELECT 1) AS one LEFT JOIN {table} AS hint ON hint.name = :name AND hint.value_ends > {earliest}

-- name: hintWrite
-- :name, :text, :ttl (µs)
INSERT INTO {table} (name, token, used, queue, value, value_ends)
VALUES (:name, 0, {latest}, '', :text, {latest} + CAST(:ttl AS SIGNED))
ON DUPLICATE KEY UPDATE used = VALUES(used), value = VALUES(value), value_ends = VALUES(value_ends)
