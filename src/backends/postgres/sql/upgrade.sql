-- Brings tables that an older revision made to what tables.sql says, in the same transaction as the functions that need it.
DO $upgrade$
BEGIN
  IF to_regclass('{line_claims}') IS NULL THEN
    -- In the order in which every step takes them, or a step and this would wait for each other.
    LOCK TABLE {keys}, {line} IN ACCESS EXCLUSIVE MODE;
    CREATE INDEX {=line_claims} ON {line} (id);
  END IF;
  IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('{keys}') AND attname = 'era') THEN
    RETURN;
  END IF;
  ALTER TABLE {keys}
    ADD COLUMN first bigint NOT NULL DEFAULT 0, ADD COLUMN head bigint NOT NULL DEFAULT 0,
    ADD COLUMN steps bigint NOT NULL DEFAULT 0, ADD COLUMN era bigint NOT NULL DEFAULT 0,
    DROP CONSTRAINT {=keys_pkey}, ADD PRIMARY KEY (key, era);
  ALTER TABLE {line} DROP CONSTRAINT {=line_pkey}, ADD PRIMARY KEY (key, token);
  DROP INDEX IF EXISTS {line_waiting};
END
$upgrade$;
