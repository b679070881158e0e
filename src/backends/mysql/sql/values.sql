-- name: words
-- What holds left under their keys, and how often holds have begun since. Made with the first memo: see `notes`. Times as in `setup`.
--
-- attempts, begun, mark, counts  holds begun since words were left last, of claims that count; the token and the mark of the last of
--                             these, and until when all this counts
-- token, since, expires       of the words: the token of the hold that left them (0: none were left), from when on they have an age, when they are over
-- ends                        from when on nothing of the row counts
CREATE TABLE IF NOT EXISTS {words} (
  name VARBINARY(600) NOT NULL,
  attempts INT UNSIGNED NOT NULL,
  begun BIGINT UNSIGNED NOT NULL,
  mark VARBINARY(64) NOT NULL,
  counts BIGINT NOT NULL,
  token BIGINT UNSIGNED NOT NULL,
  since BIGINT NOT NULL,
  expires BIGINT NOT NULL,
  ends BIGINT NOT NULL,
  text MEDIUMBLOB NOT NULL,
  PRIMARY KEY (name),
  KEY ends (ends)
) ENGINE = InnoDB

-- name: wordsLook
-- :name, :mark (`@id ` of the claim that asks)
-- One row: what is under the key, NULL where nothing is; whether the claim stands in the line; the server's time; and whether the
-- server takes no writes, for one that was the primary does not know what was left since.
SELECT said.attempts, said.begun, said.mark, said.counts, said.token, said.since, said.expires, said.text,
  COALESCE(INSTR(kept.line, :mark), 0) > 0 AS stands, {earliest} AS now, {closed} AS closed, {open} AS open
FROM (SELECT 1) AS one
LEFT JOIN {words} AS said ON said.name = :name
LEFT JOIN {table} AS kept ON kept.name = :name

-- name: wordsKeys
-- The keys under which words or attempts are left, of the names from :from up to, but not including, :to, a page at a time.
-- :from, :to
SELECT name, {earliest} AS now, {open} AS open FROM {words}
WHERE name >= :from AND name < :to AND ends > {earliest}
ORDER BY name LIMIT 1000

-- name: wordsBegin
-- Notes that a hold has begun, unless a later one has, or has left words. The token comes last: what is before it compares the old one.
-- :name, :token, :mark, :counts (µs from now)
-- Result: insertId: the attempts, this one included.
INSERT INTO {words} (name, attempts, begun, mark, counts, token, since, expires, ends, text)
VALUES (
  :name, LAST_INSERT_ID(1), CAST(:token AS UNSIGNED), :mark, {latest} + CAST(:counts AS SIGNED), 0, 0, 0,
  {latest} + CAST(:counts AS SIGNED), ''
)
ON DUPLICATE KEY UPDATE
  attempts = LAST_INSERT_ID(IF(GREATEST(begun, token) >= CAST(:token AS UNSIGNED), attempts, IF(counts > {earliest}, attempts, 0) + 1)),
  mark = IF(GREATEST(begun, token) >= CAST(:token AS UNSIGNED), mark, VALUES(mark)),
  counts = IF(GREATEST(begun, token) >= CAST(:token AS UNSIGNED), counts, VALUES(counts)),
  ends = IF(GREATEST(begun, token) >= CAST(:token AS UNSIGNED), ends, GREATEST(VALUES(counts), expires)),
  begun = GREATEST(begun, VALUES(begun))

-- name: wordsLeave
-- Gives up an exclusive hold that has not expired, and leaves words in the same step, which end the attempts. It is the first in its line.
-- The token is given, for the server does not say which of two tables it changes first.
-- :name, :mark (`@id `), :token (of the hold), :text, :ttl (µs), :fresh (µs for which the words have no age yet)
-- Result: no row changed: it does not hold, or the row of the words is missing.
UPDATE {table} AS kept JOIN {words} AS said ON said.name = kept.name
SET kept.line = SUBSTRING(kept.line, LOCATE(';', kept.line) + 1), kept.used = {latest},
    said.attempts = 0, said.begun = 0, said.mark = '-', said.counts = 0,
    said.token = CAST(:token AS UNSIGNED), said.since = IF(:fresh > 0, {latest} + CAST(:fresh AS SIGNED), {earliest}), said.expires = {latest} + CAST(:ttl AS SIGNED),
    said.ends = {latest} + CAST(:ttl AS SIGNED), said.text = :text
WHERE kept.name = :name
  AND INSTR(kept.line, :mark) = 1
  AND SUBSTRING(kept.line, LENGTH(:mark) + 1, 16) > CAST({earliest} AS CHAR)

-- name: wordsRow
-- The row of a key under which nothing was left so far. No sweep takes it for the minute in which it is filled.
INSERT IGNORE INTO {words} (name, attempts, begun, mark, counts, token, since, expires, ends, text)
VALUES (:name, 0, 0, '-', 0, 0, 0, 0, {latest} + 60000000, '')

-- name: wordsForget
DELETE FROM {words} WHERE name = :name AND GREATEST(counts, expires) > {earliest}

-- name: wordsSweep
-- Some of those of which nothing counts any more. By the start of the statement: an index is of no use to a SYSDATE.
DELETE FROM {words} WHERE ends <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) LIMIT 256
