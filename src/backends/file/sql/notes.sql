-- Words that processes leave for each other beside the locks: advice, which may be gone. Made when it is not there, also in
-- files of before it was known.
CREATE TABLE IF NOT EXISTS note (
  name   BLOB PRIMARY KEY, -- prefix, '/', name
  text   TEXT NOT NULL,
  expires REAL NOT NULL     -- ms of the machine's monotonic clock
) STRICT, WITHOUT ROWID;
