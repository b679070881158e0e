-- Makes the tables of an empty locks file: once, in one transaction under the write lock.
-- Times are ms of the machine's monotonic clock, which its processes share. A name is the prefix, '/' and the key, compared as bytes.

-- One row. `last` is the highest token of all keys. One counter serves all keys, so nothing is kept for a key that is not in use.
-- A process takes a token only while `format` and `boot` are as the process read them when it opened the file.
CREATE TABLE ledger (
  one    INTEGER PRIMARY KEY CHECK (one = 1),
  format INTEGER NOT NULL,
  boot   TEXT    NOT NULL,
  last   INTEGER NOT NULL
) STRICT;

-- The rows with one name, in the order of their tokens, are the queue of that key.
CREATE TABLE claim (
  name     BLOB    NOT NULL,
  token    INTEGER NOT NULL,
  id       TEXT    NOT NULL,
  label    TEXT    NOT NULL, -- as JSON: Node 22.13 and Deno 2.9 read a text only up to its first NUL
  units    INTEGER NOT NULL,
  capacity INTEGER NOT NULL,
  ttl      REAL    NOT NULL,
  joined   REAL    NOT NULL,
  expires  REAL    NOT NULL,
  held     INTEGER NOT NULL, -- 1: admitted
  lingers  INTEGER NOT NULL, -- 1: the hold outlives its process
  process  TEXT    NOT NULL, -- the name of the socket of its process; '' if the process has none
  version  TEXT    NOT NULL, -- of the queue, in its first row: new with each change of the queue
  PRIMARY KEY (name, token)
) STRICT, WITHOUT ROWID;

-- The values of memos, with the number of holds that stored none. Also hints, whose loss does no harm: their names begin with a mark.
CREATE TABLE value (
  name    BLOB PRIMARY KEY,
  record  BLOB NOT NULL, -- in the form of shared/record.ts
  expires REAL NOT NULL  -- when nothing in the record counts any more
) STRICT;

CREATE INDEX value_expires ON value (expires);
