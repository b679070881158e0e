-- What it does: makes the tables of an empty locks file. Run once, in one transaction, under the write lock.
-- Keys: of a claim, (key, token): a line is a run of neighbouring rows in the order of their tokens.
-- Arguments: none. Result: none.

-- One row. `last` is the highest token given out: one counter for all keys, so nothing is kept for keys not in use.
-- A process writes tokens only while `format` and `boot` are what it knows.
CREATE TABLE ledger (
  one    INTEGER PRIMARY KEY CHECK (one = 1),
  format INTEGER NOT NULL,
  boot   TEXT    NOT NULL,
  last   INTEGER NOT NULL
) STRICT;

-- Times are ms of the machine's monotonic clock, the same for all its processes.
CREATE TABLE claim (
  key     BLOB    NOT NULL, -- prefix, '/', key: bytes, compared as bytes
  token  INTEGER NOT NULL,
  id      TEXT    NOT NULL,
  label   TEXT    NOT NULL,
  units   INTEGER NOT NULL,
  capacity INTEGER NOT NULL,
  ttl     REAL    NOT NULL,
  joined  REAL    NOT NULL,
  expires  REAL    NOT NULL,
  held    INTEGER NOT NULL, -- 1: admitted, and told so
  lingers INTEGER NOT NULL, -- 1: the hold outlives its process
  bell    TEXT    NOT NULL, -- the socket of its process; '' where there is none
  first   INTEGER NOT NULL, -- 1: joined an empty line, so it is the head for as long as it lives
  -- The tally of the line, on its head only.
  taken   INTEGER,          -- seats taken by all who are admitted
  room    INTEGER,          -- the smallest room named among them
  waiting INTEGER,          -- the token of the first who is not admitted
  soonest REAL,             -- nobody in the line expires before this
  PRIMARY KEY (key, token)
) STRICT, WITHOUT ROWID;

-- A claim is found as the head of its line or here: a claim on an empty line, the common case, costs no second tree.
CREATE UNIQUE INDEX claim_id ON claim (id) WHERE first = 0;
