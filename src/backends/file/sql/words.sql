-- What memos keep, and how often they were begun. Made when it is not there, also in files of before it was known.
CREATE TABLE IF NOT EXISTS word (
  name   BLOB PRIMARY KEY, -- prefix, '/', key of the memo
  record BLOB NOT NULL,    -- see shared/record.ts; its times are ms of the machine's monotonic clock
  expires REAL NOT NULL     -- nothing of it counts from then on
) STRICT;

CREATE INDEX IF NOT EXISTS word_expires ON word (expires);
