-- name: setup
-- The table, made once by the first process.
--
-- One row per key, kept when the key is free, so that lockers only ever update in place: designs that insert and delete
-- rows deadlock with each other. A statement changes one row and is its own transaction: nobody holds a row lock while
-- waiting for anything else.
--
-- name    prefix/key. The row with the empty name is the table's own: its token is the floor that new rows start from,
--         its queue the format of the table, its used the time of the last sweep.
-- token  the highest token given or reserved
-- used    when the row was last written
-- queue    everyone who holds or waits, in the order of their tokens, as text: see `join`
-- value   what memos keep of the key (`shared/record.ts`), or nothing
-- value_ends  from when on nothing of that counts
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
-- Before the first step: which table is this, and what time is it?
-- Result: format, now, open. No row: the table was made, but not founded.
SELECT queue AS format, {earliest} AS now, {open} AS open FROM {table} WHERE name = ''

-- name: found
-- Writes the table's own row. IGNORE: another process may have been first.
-- :format  the format of the table
INSERT IGNORE INTO {table} (name, token, used, queue, value) VALUES ('', 0, {latest}, :format, '')

-- name: shape
-- What the table is made of, as far as the user may see it.
-- :database (or empty: the session's), :relation
SELECT ENGINE AS engine, COLUMN_NAME AS name, COLUMN_TYPE AS type, IS_NULLABLE AS nullable, COLUMN_KEY AS part
FROM information_schema.TABLES AS made JOIN information_schema.COLUMNS AS columns USING (TABLE_SCHEMA, TABLE_NAME)
WHERE TABLE_SCHEMA = COALESCE(NULLIF(CONVERT(:database USING utf8mb3), ''), DATABASE()) AND TABLE_NAME = CONVERT(:relation USING utf8mb3)
