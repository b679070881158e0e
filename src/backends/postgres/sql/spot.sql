-- Locks the row of a key and gives it as it is now; a row of nulls where there is none.
--   make   makes it where there is none
-- The newest era first: see tables.sql. No index keeps a key from having two rows, so a step that makes one holds a lock on the key's
-- name, and looks again under it.
CREATE OR REPLACE FUNCTION {spot}(a_key bytea, make boolean) RETURNS {keys}
LANGUAGE plpgsql AS $holdfast$
DECLARE
  spot {keys};
BEGIN
  SELECT * INTO spot FROM {keys} WHERE key = a_key ORDER BY era DESC LIMIT 1 FOR NO KEY UPDATE;
  IF FOUND THEN
    RETURN spot;
  END IF;
  -- An older snapshot would not see the row that another has just made.
  IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
    RAISE serialization_failure USING MESSAGE = 'holdfast: a key cannot be made above READ COMMITTED',
      HINT = 'Call the procedures, as the newest version of holdfast does.';
  END IF;
  -- Also where none is to be made: an attempt of this very claim may be making it, and not have committed.
  PERFORM pg_advisory_xact_lock(hashtextextended('{keys} ' || encode(a_key, 'hex'), 0));
  SELECT * INTO spot FROM {keys} WHERE key = a_key ORDER BY era DESC LIMIT 1 FOR NO KEY UPDATE;
  IF NOT FOUND AND make THEN
    INSERT INTO {keys} (key, last, capacity, expires) VALUES (a_key, 0, {seats}, clock_timestamp()) RETURNING * INTO spot;
  END IF;
  RETURN spot;
END
$holdfast$;

-- Writes back the row of a key that the caller has locked.
CREATE OR REPLACE FUNCTION {keep}(spot {keys}) RETURNS void
LANGUAGE plpgsql AS $holdfast$
BEGIN
  UPDATE {keys}
    SET last = spot.last, taken = spot.taken, waits = spot.waits, capacity = spot.capacity, expires = spot.expires, id = spot.id,
        first = spot.first, head = spot.head, steps = spot.steps + 1, era = (spot.steps + 1) / 64
    WHERE key = spot.key AND era = spot.era;
END
$holdfast$;
