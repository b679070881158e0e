-- name: notes
-- Words that processes leave for each other beside the locks: advice, which may be gone. Made with the first note.
CREATE TABLE IF NOT EXISTS {notes} (
  name VARBINARY(600) NOT NULL,
  text VARBINARY(1024) NOT NULL,
  expires BIGINT NOT NULL,
  PRIMARY KEY (name),
  KEY expires (expires)
) ENGINE = InnoDB

-- name: noteRead
-- :name. One row: its text, NULL where there is none whose time is not over; and whether the server takes no writes, for one that was
-- the primary does not know what was written since.
SELECT note.text AS text, {closed} AS closed, {open} AS open
FROM (SELECT 1) AS one LEFT JOIN {notes} AS note ON note.name = :name AND note.expires > {earliest}

-- name: noteKeep
-- :name, :text, :ttl (µs)
INSERT INTO {notes} (name, text, expires) VALUES (:name, :text, {latest} + CAST(:ttl AS SIGNED))
ON DUPLICATE KEY UPDATE text = VALUES(text), expires = VALUES(expires)

-- name: noteForget
DELETE FROM {notes} WHERE name = :name

-- name: noteSweep
-- Some of those whose time is over.
DELETE FROM {notes} WHERE expires <= {earliest} LIMIT 100
