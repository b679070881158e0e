-- Removes everyone in the key's line who has lapsed, counts the rest anew, and admits whom the rule now admits.
-- Linear in the line, so it runs only when the earliest lapse that is known has come.
--   spot, moment, asking   as for {admit}
-- Gives the key's row as it is to be written.
CREATE OR REPLACE FUNCTION {settle}(spot {keys}, moment timestamptz, asking text) RETURNS {keys}
LANGUAGE plpgsql AS $holdfast$
BEGIN
  -- Nobody has: the row was found by a time from before the clock was set back.
  IF spot.lapses > moment THEN
    RETURN spot;
  END IF;
  DELETE FROM {line} WHERE key = spot.key AND ticket >= spot.first AND lapses <= moment;
  spot.id := NULL; -- whoever was alone, it was they who lapsed
  SELECT coalesce(sum(take) FILTER (WHERE held), 0), count(*) FILTER (WHERE NOT held),
         coalesce(min(room) FILTER (WHERE held), {seats}), coalesce(min(lapses), spot.lapses)
    INTO spot.taken, spot.waits, spot.room, spot.lapses
    FROM {line} WHERE key = spot.key AND ticket >= spot.first;
  RETURN {admit}(spot, moment, asking);
END
$holdfast$;
