-- The table, made once by whoever comes first.
--
-- One row per key, kept when the key is free, so that lockers only ever update in place: designs that insert and delete
-- rows deadlock with each other. A statement changes one row and is its own transaction: nobody holds a row lock while
-- waiting for anything else.
--
-- name    prefix/key. The row with the empty name is the table's own: its token is the floor that new rows start from,
--         its line the format of the table, its used the time of the last sweep.
-- token  the highest token given or reserved
-- used    when the row was last written
-- line    everyone who holds or waits, in the order of their tokens, as text: see join.sql
--
-- Times are microseconds since 1970, in UTC, of the server.
CREATE TABLE IF NOT EXISTS {table} (
  name VARBINARY(600) NOT NULL,
  token BIGINT UNSIGNED NOT NULL,
  used BIGINT NOT NULL,
  line MEDIUMBLOB NOT NULL,
  PRIMARY KEY (name)
) ENGINE = InnoDB
