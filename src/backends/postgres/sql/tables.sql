-- What is stored. Run once per schema and prefix, by a role that may create there; safe to run again and by many at once.
-- {names} are replaced by quoted, schema-qualified identifiers, {=names} by quoted bare ones.
CREATE TABLE IF NOT EXISTS {meta} (
  format int NOT NULL,                -- of everything here; a program that does not know it must not touch it
  swept  timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO {meta} (format) SELECT 1 WHERE NOT EXISTS (SELECT FROM {meta});

-- Where the tokens of a key nobody remembers begin: above every token that a swept row can have had. Never cycles.
CREATE SEQUENCE IF NOT EXISTS {tokens};

-- One row per key in use. Its row lock puts everything that happens to the key in order. A holder who met nobody is in here
-- alone, so that to take and to free a key is one update each; the first claim that joins moves it to the queue.
-- The row is looked for from its newest era down (ORDER BY era DESC): while some snapshot is held open, no dead version of it
-- can be removed, and a search by the key alone would pass over all of them.
CREATE TABLE IF NOT EXISTS {keys} (
  key    bytea NOT NULL,
  last   bigint NOT NULL,             -- highest token given out or reserved
  taken  bigint NOT NULL DEFAULT 0,   -- units of all holders; 0: the queue is empty
  waits  int NOT NULL DEFAULT 0,      -- how many stand in line and do not hold
  capacity int NOT NULL,              -- at most the smallest room named by a holder; exact when somebody waits for it
  expires timestamptz NOT NULL,        -- nobody in line expires before; the one who is alone, then
  id     text,                        -- the id of the claim that is alone; its units and capacity are those above; null: none is
  token bigint,                      -- of the same, as are the rest
  ttl    float8,
  joined timestamptz,
  label  bytea,
  first  bigint NOT NULL DEFAULT 0,   -- nobody in line has a lower token
  head   bigint NOT NULL DEFAULT 0,   -- nobody who waits has a lower token, nobody who holds has this or a higher one
  steps  bigint NOT NULL DEFAULT 0,   -- how often the row was written
  era    bigint NOT NULL DEFAULT 0,   -- steps / 64
  PRIMARY KEY (key, era)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- The line of all others. Who holds is marked in the transaction that admits them, so that exactly the newly admitted are told.
-- Each index serves one kind of search only, so that no plan can take the wrong one.
CREATE TABLE IF NOT EXISTS {line} (
  key     bytea NOT NULL,
  id      text NOT NULL,
  token   bigint NOT NULL,
  units   int NOT NULL,
  capacity int NOT NULL,
  ttl     float8 NOT NULL,            -- ms
  held    boolean NOT NULL,
  expires timestamptz NOT NULL,
  joined  timestamptz NOT NULL,
  channel text,                       -- where its process listens
  label   bytea NOT NULL,
  PRIMARY KEY (key, token)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
