-- Admits from the head of the queue the claims that the rule now admits, and notifies them by NOTIFY.
-- The caller has locked the key's row, gives it as it stands after its own changes, and writes it.
-- A place that gave no sign of life is dropped as it comes to the head.
--   spot    the key's row
--   moment  the server's time, read under the lock
--   asking  id of a claim that hears of it in its own reply and needs no message
-- Gives the key's row as it is to be written.
CREATE OR REPLACE FUNCTION {admit}(spot {keys}, moment timestamptz, asking text) RETURNS {keys}
LANGUAGE plpgsql AS $holdfast$
DECLARE
  next {line};
BEGIN
  FOR next IN SELECT * FROM {line} WHERE key = spot.key AND token >= spot.head AND NOT held ORDER BY token LOOP
    IF next.expires <= moment THEN
      DELETE FROM {line} WHERE key = next.key AND token = next.token;
      spot.waits := spot.waits - 1;
      spot.head := next.token + 1;
      CONTINUE;
    END IF;
    spot.head := next.token;
    IF spot.taken + next.units > spot.capacity AND spot.taken + next.units <= next.capacity THEN
      SELECT coalesce(min(capacity), {seats}) INTO spot.capacity FROM {line}
        WHERE key = spot.key AND token >= spot.first AND token < spot.head AND held;
    END IF;
    EXIT WHEN spot.taken + next.units > least(spot.capacity, next.capacity);
    IF spot.taken = 0 THEN
      spot.first := next.token; -- nobody holds, and nobody who waits is before it
    END IF;
    spot.taken := spot.taken + next.units;
    spot.waits := spot.waits - 1;
    spot.capacity := least(spot.capacity, next.capacity);
    spot.head := next.token + 1;
    UPDATE {line} SET held = true, expires = moment + next.ttl * interval '1 ms' WHERE key = next.key AND token = next.token;
    -- `quiet`: the queue of messages is full, and would not let the transaction commit.
    IF next.channel IS NOT NULL AND next.id IS DISTINCT FROM asking AND current_setting('holdfast.quiet', true) IS DISTINCT FROM 'on' THEN
      PERFORM pg_notify(next.channel, next.token || ' ' || next.id);
    END IF;
  END LOOP;
  RETURN spot;
END
$holdfast$;
