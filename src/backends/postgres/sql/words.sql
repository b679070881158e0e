-- What holds left under their keys, and how often holds have begun since: a row for a key of which a claim said so, or none. Apart from
-- the keys, so that words of any length cost a lock nothing. Written under the lock of the key's row, but for `forget` and the sweep,
-- which remove. The newest era first, as in tables.sql.
CREATE TABLE IF NOT EXISTS {words} (
  key    bytea NOT NULL,
  attempts  int NOT NULL DEFAULT 0,      -- holds begun since words were left last, of claims that count
  begun  bigint,                      -- the token of the last of these
  mark   text,                        -- and its mark
  counts timestamptz NOT NULL DEFAULT '-infinity', -- until when these three count
  token bigint,                      -- of the hold that left the words; null: none were left
  since  timestamptz,                 -- from when on they have an age: when it left them, or later
  until  timestamptz NOT NULL DEFAULT '-infinity', -- when they are over
  text   bytea,                       -- bytes, for a text of PostgreSQL cannot hold every character
  steps  bigint NOT NULL DEFAULT 0,   -- how often the row was written
  era    bigint NOT NULL DEFAULT 0,   -- steps / 64
  PRIMARY KEY (key, era)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
