-- Words that processes leave for each other beside the locks: advice, which may be gone. Made by setup(), or when the first
-- note is kept.
CREATE TABLE IF NOT EXISTS {notes} (
  name   bytea PRIMARY KEY,
  text   text NOT NULL,
  expires timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS {=notes_over} ON {notes} (expires);
