-- What it does: makes the tables of an empty locks file. Run once, in one transaction, under the write lock.
-- Times are ms of the machine's monotonic clock, the same for all its processes. Names are prefix, '/', key: bytes, compared as bytes.
-- Arguments: none. Result: none.

-- One row. `last` is the highest token given out: one counter for all keys, so nothing is kept for keys not in use.
-- A process writes tokens only while `format` and `boot` are what it knows.
CREATE TABLE ledger (
  one    INTEGER PRIMARY KEY CHECK (one = 1),
  format INTEGER NOT NULL,
  boot   TEXT    NOT NULL,
  last   INTEGER NOT NULL
) STRICT;

-- A queue is a run of neighbouring rows in the order of their tokens.
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
  held     INTEGER NOT NULL, -- 1: admitted, and told so
  lingers  INTEGER NOT NULL, -- 1: the hold outlives its process
  process  TEXT    NOT NULL, -- the socket of its process; '' where there is none
  version  TEXT    NOT NULL, -- in the first row of a queue: another one after each change of the queue
  PRIMARY KEY (name, token)
) STRICT, WITHOUT ROWID;

-- What memos keep, and how often they were begun. Hints of processes for each other beside the locks have names with a mark in front:
-- advice, which may be gone.
CREATE TABLE value (
  name    BLOB PRIMARY KEY,
  record  BLOB NOT NULL, -- see shared/record.ts; of a hint its text
  expires REAL NOT NULL  -- nothing of it counts from then on
) STRICT;

CREATE INDEX value_expires ON value (expires);
