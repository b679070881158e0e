-- Admits from the head of the line whomever the rule now admits, tells them by NOTIFY, and writes the key's sums back.
-- The caller has locked the key's row, and gives it as it stands after whatever it changed.
-- A place that gave no sign of life is dropped as it comes to the head.
--   spot    the key's row
--   moment  the server's time, read under the lock
--   asking  id of a claim that hears of it in its own reply and needs no message
-- Gives the key's row as written.
CREATE OR REPLACE FUNCTION {admit}(spot {keys}, moment timestamptz, asking text) RETURNS {keys}
LANGUAGE plpgsql AS $holdfast$
DECLARE
  head {line};
BEGIN
  FOR head IN SELECT * FROM {line} WHERE key = spot.key AND NOT held ORDER BY ticket LOOP
    IF head.lapses <= moment THEN
      DELETE FROM {line} WHERE key = head.key AND id = head.id;
      spot.waits := spot.waits - 1;
      CONTINUE;
    END IF;
    IF spot.taken + head.take > spot.room AND spot.taken + head.take <= head.room THEN
      SELECT coalesce(min(room), {seats}) INTO spot.room FROM {line} WHERE key = spot.key AND held;
    END IF;
    EXIT WHEN spot.taken + head.take > least(spot.room, head.room);
    spot.taken := spot.taken + head.take;
    spot.waits := spot.waits - 1;
    spot.room := least(spot.room, head.room);
    UPDATE {line} SET held = true, lapses = moment + head.ttl * interval '1 ms' WHERE key = head.key AND id = head.id;
    IF head.channel IS NOT NULL AND head.id IS DISTINCT FROM asking THEN
      PERFORM pg_notify(head.channel, head.ticket || ' ' || head.id);
    END IF;
  END LOOP;
  UPDATE {keys} SET taken = spot.taken, waits = spot.waits, room = spot.room, lapses = spot.lapses, id = spot.id
    WHERE key = spot.key;
  RETURN spot;
END
$holdfast$;
