-- The tables. A quoted identifier with the schema replaces each {name}; a quoted identifier without the schema replaces each {=name}.

-- name: tables
CREATE TABLE IF NOT EXISTS {meta} (
  format int NOT NULL,                 -- of all tables; a program that does not know this format must not use them
  swept  timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO {meta} (format) SELECT 1 WHERE NOT EXISTS (SELECT FROM {meta});

-- The tokens of a key without a row begin with this sequence: it is above all tokens of rows that were swept. It never cycles.
CREATE SEQUENCE IF NOT EXISTS {tokens};

-- One row per key in use. The lock of this row puts all steps of the key in order. A claim that is alone is in this row, so an attempt and a
-- release are one update each. When another claim joins, the claim that was alone moves to the queue.
-- A step looks for the newest era first (ORDER BY era DESC): while a snapshot is held open, no dead version of the row can be removed, and a
-- search by the key alone would pass all dead versions.
CREATE TABLE IF NOT EXISTS {keys} (
  key      bytea NOT NULL,
  last     bigint NOT NULL,            -- highest token given out or reserved
  taken    bigint NOT NULL DEFAULT 0,  -- the units of all holders; 0: the queue is empty
  waits    int NOT NULL DEFAULT 0,     -- how many claims are in the queue and do not hold
  capacity int NOT NULL,               -- at most the smallest capacity of all holders; exact when a claim waits for it
  expires  timestamptz NOT NULL,       -- no claim in the queue expires sooner; a claim that is alone expires at this time
  id       text,                       -- of the claim that is alone; its units and capacity are above; null: no claim is alone
  token    bigint,                     -- this column and the next three are of that claim, too
  ttl      float8,
  joined   timestamptz,
  label    bytea,
  first    bigint NOT NULL DEFAULT 0,  -- no claim in the queue has a lower token
  head     bigint NOT NULL DEFAULT 0,  -- each hold has a lower token, and no claim that waits has one
  steps    bigint NOT NULL DEFAULT 0,  -- how often the row was written
  era      bigint NOT NULL DEFAULT 0,  -- steps / 64
  PRIMARY KEY (key, era)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- The queues of all other claims. The transaction that admits a claim marks it as held, so exactly the newly admitted claims are notified.
-- Each index is for one kind of search, so no plan can use the wrong index.
CREATE TABLE IF NOT EXISTS {queue} (
  key      bytea NOT NULL,
  id       text NOT NULL,
  token    bigint NOT NULL,
  units    int NOT NULL,
  capacity int NOT NULL,
  ttl      float8 NOT NULL,            -- ms
  held     boolean NOT NULL,
  expires  timestamptz NOT NULL,
  joined   timestamptz NOT NULL,
  channel  text,                       -- on which the claim's process listens
  label    bytea NOT NULL,
  PRIMARY KEY (key, token)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
CREATE INDEX IF NOT EXISTS {=queue_ids} ON {queue} (id);

-- The value and the attempts of a key that a memo has used, and hints. They are not in the row of the key, so a long value costs a lock
-- nothing. Except for hints, a row is written under the lock of the key's row; only `forget` and the sweep remove rows without that lock.
-- Steps look for the newest era first, as above.
CREATE TABLE IF NOT EXISTS {values} (
  key      bytea NOT NULL,
  attempts int NOT NULL DEFAULT 0,     -- of claims that count: holds that began since a value was stored last
  begun    bigint,                     -- the token of the last of these holds
  mark     text,                       -- the mark of the last of these holds
  counts   timestamptz NOT NULL DEFAULT '-infinity', -- until when attempts, begun and mark count
  token    bigint,                     -- of the hold that stored the value; null: there is no value
  since    timestamptz,                -- when the age of the value begins: when it was stored, or later
  until    timestamptz NOT NULL DEFAULT '-infinity', -- when the value is over
  text     bytea,                      -- bytes, since a text of PostgreSQL cannot have all characters
  steps    bigint NOT NULL DEFAULT 0,
  era      bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (key, era)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- A claim as programs send it.
DO $claim$
BEGIN
  IF to_regtype('{claim}') IS NULL THEN
    CREATE TYPE {claim} AS (
      key bytea, id text, units int, capacity int,
      ttl float8,          -- ms
      token_count int,
      label bytea,
      queue boolean,       -- whether the claim stays in the queue when it is refused
      until float8,        -- the server's time (ms since 1970) after which the attempt comes too late; null: no limit
      min_token bigint,    -- the lowest token allowed; null: any
      channel text,        -- for the NOTIFY when the claim is admitted; null: no NOTIFY
      place_ttl float8,    -- ms after which the claim expires while it waits, unless it asks again
      max_age float8,      -- the largest age of a value that the claim accepts, ms; null: any
      mark text,           -- what others see of the claim while it holds; null: it accepts no value
      counts float8        -- how long after its ttl the claim counts as an attempt, ms; 0: it does not count
    );
  END IF;
END
$claim$;
