-- name: valueKeys
-- The keys of which memos keep something, of the names from :from up to, but not including, :to, a page at a time.
-- :from, :to
SELECT name, {earliest} AS now, {open} AS open FROM {table}
WHERE name >= :from AND name < :to AND value_ends > {earliest}
ORDER BY name LIMIT 1000

-- name: valueForget
-- Forgets a hint. With a name that no row has it is a write that changes nothing.
-- :name
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
