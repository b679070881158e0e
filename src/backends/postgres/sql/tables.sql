-- What is stored. {names} are replaced by quoted, schema-qualified identifiers, {=names} by quoted bare ones.

-- name: tables
CREATE TABLE IF NOT EXISTS {meta} (
  format int NOT NULL,                 -- of everything here; a program that does not know it must not touch it
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
  key      bytea NOT NULL,
  last     bigint NOT NULL,            -- highest token given out or reserved
  taken    bigint NOT NULL DEFAULT 0,  -- units of all holders; 0: the queue is empty
  waits    int NOT NULL DEFAULT 0,     -- how many claims are in the queue and do not hold
  capacity int NOT NULL,               -- at most the smallest that a holder names; exact when somebody waits for it
  expires  timestamptz NOT NULL,       -- no claim in the queue expires before; the one that is alone, then
  id       text,                       -- the id of the claim that is alone; its units and capacity are those above; null: none is
  token    bigint,                     -- of the same, as are the rest
  ttl      float8,
  joined   timestamptz,
  label    bytea,
  first    bigint NOT NULL DEFAULT 0,  -- no claim in the queue has a lower token
  head     bigint NOT NULL DEFAULT 0,  -- no claim that waits has a lower token, none that holds has this or a higher one
  steps    bigint NOT NULL DEFAULT 0,  -- how often the row was written
  era      bigint NOT NULL DEFAULT 0,  -- steps / 64
  PRIMARY KEY (key, era)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- The queues, of all other claims. A claim is marked as a hold in the transaction that admits it, so that exactly the newly admitted
-- are notified. Each index serves one kind of search only, so that no plan can take the wrong one.
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
  channel  text,                       -- where its process listens
  label    bytea NOT NULL,
  PRIMARY KEY (key, token)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
CREATE INDEX IF NOT EXISTS {=queue_ids} ON {queue} (id);

-- What memos keep under a key, and how often holds have begun since: a row for a key that a memo has used, or none. Apart from
-- the keys, so that a value of any length costs a lock nothing. Written under the lock of the key's row, but for `forget` and the sweep,
-- which remove. The newest era first, as above.
CREATE TABLE IF NOT EXISTS {values} (
  key      bytea NOT NULL,
  attempts int NOT NULL DEFAULT 0,     -- holds begun since a value was stored last, of claims that count
  begun    bigint,                     -- the token of the last of these
  mark     text,                       -- and its mark
  counts   timestamptz NOT NULL DEFAULT '-infinity', -- until when these three count
  token    bigint,                     -- of the hold that stored the value; null: there is none
  since    timestamptz,                -- from when on it has an age: when it was stored, or later
  until    timestamptz NOT NULL DEFAULT '-infinity', -- when it is over
  text     bytea,                      -- bytes, for a text of PostgreSQL cannot hold every character
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
      queue boolean,       -- keeps a place when refused
      until float8,        -- server's time (ms since 1970) after which an attempt must not count; null: no limit
      min_token bigint,    -- the token may not be lower; null: any
      channel text,        -- where to NOTIFY once it is admitted; null: nowhere
      place_ttl float8,    -- ms after which a place expires unless it is asked for again
      max_age float8,      -- how old a value may be that it accepts, ms; null: of any age
      mark text,           -- what others see of it while it holds; null: it accepts no value
      counts float8        -- for so long after its ttl it counts among the attempts of its key, ms; 0: it does not
    );
  END IF;
END
$claim$;
