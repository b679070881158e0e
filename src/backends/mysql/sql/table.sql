-- name: setup
-- Makes the table; the first process does so once.
--
-- A key has one row, which stays when the key is free, so that steps only update rows: statements that insert and delete rows deadlock
-- with each other. A statement of a step changes one row, and is its own transaction: it never waits while it has a row lock.
--
-- name        prefix/key. The row with the empty name is the table's own. There, `token` is the floor from which the tokens of new rows
--             start, `queue` the format of the table, and `used` the time of the last sweep.
-- token       the highest token that was given or reserved
-- used        when the row was last written
-- queue       the claims that hold or wait, in the order of their tokens, as text: see `newcomer`
-- value       the value and the attempts of memos (`shared/record.ts`), or nothing
-- value_ends  when the value and the attempts are over
--
-- Times are microseconds since 1970, in UTC, of the server.
CREATE TABLE IF NOT EXISTS {table} (
  name VARBINARY(600) NOT NULL,
  token BIGINT UNSIGNED NOT NULL,
  used BIGINT NOT NULL,
  queue MEDIUMBLOB NOT NULL,
  value MEDIUMBLOB NOT NULL,
  value_ends BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (name)
) ENGINE = InnoDB

-- name: greet
-- Reads the table's own row and the server's time, before the first step.
-- Result: format, now, open. No row: the table was made, but its own row is missing.
SELECT queue AS format, {earliest} AS now, {open} AS open FROM {table} WHERE name = ''

-- name: found
-- Writes the table's own row. IGNORE: another process may have been first.
-- :format  the format of the table
INSERT IGNORE INTO {table} (name, token, used, queue, value) VALUES ('', 0, {latest}, :format, '')

-- name: probe
-- A write that changes nothing, since no row has this name. The server refuses it if it takes no writes.
UPDATE {table} SET used = used WHERE name = X'00'

-- name: shape
-- The columns of the table, as far as the user may see them.
-- :database (empty: that of the session), :relation
SELECT ENGINE AS engine, COLUMN_NAME AS name, COLUMN_TYPE AS type, IS_NULLABLE AS nullable, COLUMN_KEY AS part
FROM information_schema.TABLES AS made JOIN information_schema.COLUMNS AS columns USING (TABLE_SCHEMA, TABLE_NAME)
WHERE TABLE_SCHEMA = COALESCE(NULLIF(CONVERT(:database USING utf8mb3), ''), DATABASE()) AND TABLE_NAME = CONVERT(:relation USING utf8mb3)
