-- Removes all expired claims of the key's queue, counts the rest again, and admits those that the rule now admits.
-- Linear in the line, so it runs only when the earliest expiry that is known has come.
--   spot, moment, asking   as for {admit}
-- Gives the key's row as it is to be written.
CREATE OR REPLACE FUNCTION {settle}(spot {keys}, moment timestamptz, asking text) RETURNS {keys}
LANGUAGE plpgsql AS $holdfast$
BEGIN
  -- Nobody has: the row was found by a time from before the clock was set back.
  IF spot.expires > moment THEN
    RETURN spot;
  END IF;
  DELETE FROM {line} WHERE key = spot.key AND token >= spot.first AND expires <= moment;
  spot.id := NULL; -- the claim that was alone has expired
  SELECT coalesce(sum(units) FILTER (WHERE held), 0), count(*) FILTER (WHERE NOT held),
         coalesce(min(capacity) FILTER (WHERE held), {seats}), coalesce(min(expires), spot.expires)
    INTO spot.taken, spot.waits, spot.capacity, spot.expires
    FROM {line} WHERE key = spot.key AND token >= spot.first;
  RETURN {admit}(spot, moment, asking);
END
$holdfast$;
