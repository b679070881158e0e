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
  label    TEXT    NOT NULL,
  units    INTEGER NOT NULL,
  capacity INTEGER NOT NULL,
  ttl      REAL    NOT NULL,
  joined   REAL    NOT NULL,
  expires  REAL    NOT NULL,
  held     INTEGER NOT NULL, -- 1: admitted, and told so
  lingers  INTEGER NOT NULL, -- 1: the hold outlives its process
  process  TEXT    NOT NULL, -- the socket of its process; '' where there is none
  first    INTEGER NOT NULL, -- 1: joined an empty queue, so it is the head for as long as it lives
  -- The tally of the queue, on its head only.
  taken    INTEGER,          -- units taken by all that are admitted
  room     INTEGER,          -- the smallest capacity named among them
  waiting  INTEGER,          -- the token of the first that is not admitted
  soonest  REAL,             -- no claim of the queue expires before this
  PRIMARY KEY (name, token)
) STRICT, WITHOUT ROWID;

-- A claim is found as the head of its queue or here: a claim on an empty queue, the common case, costs no second tree.
CREATE UNIQUE INDEX claim_id ON claim (id) WHERE first = 0;

-- What memos keep, and how often they were begun. Hints of processes for each other beside the locks have names with a mark in front:
-- advice, which may be gone.
CREATE TABLE value (
  name    BLOB PRIMARY KEY,
  record  BLOB NOT NULL, -- see shared/record.ts; of a hint its text
  expires REAL NOT NULL  -- nothing of it counts from then on
) STRICT;

CREATE INDEX value_expires ON value (expires);
