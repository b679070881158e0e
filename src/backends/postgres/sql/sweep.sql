-- Removes what nobody asks about any more: lapsed claims, and keys that are not in use. One process at a time.
--   every   ms that must have passed since the last sweep
--   idle    ms that a key must have been out of use
-- Gives how many keys were removed.
CREATE OR REPLACE FUNCTION {sweep}(every float8, idle float8) RETURNS bigint
LANGUAGE plpgsql AS $holdfast$
DECLARE
  moment timestamptz := clock_timestamp();
  spot {keys};
  removed bigint;
BEGIN
  PERFORM FROM {meta} WHERE swept <= moment - every * interval '1 ms' FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  UPDATE {meta} SET swept = moment;
  FOR spot IN
    SELECT * FROM {keys} k WHERE k.lapses <= moment AND (k.id IS NOT NULL OR EXISTS (SELECT FROM {line} l WHERE l.key = k.key))
      LIMIT 1000 FOR UPDATE SKIP LOCKED
  LOOP
    PERFORM {settle}(spot, clock_timestamp(), NULL);
  END LOOP;
  -- A key that comes back starts from the sequence, so only rows that the sequence has overtaken may go.
  WITH unused AS (
    SELECT key FROM {keys} k
      WHERE k.lapses <= moment - idle * interval '1 ms' AND k.last < (SELECT last_value FROM {tickets})
        AND k.id IS NULL AND NOT EXISTS (SELECT FROM {line} l WHERE l.key = k.key)
      LIMIT 1000 FOR UPDATE SKIP LOCKED
  )
  DELETE FROM {keys} k USING unused WHERE k.key = unused.key;
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END
$holdfast$;
