-- Gives up a hold or a place, and admits whom the rule then admits.
--   key, id   of the claim
-- Gives whether there was a hold or place that had not expired.
CREATE OR REPLACE FUNCTION {release}(a_key bytea, a_id text) RETURNS boolean
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $holdfast$
DECLARE
  spot {keys};
  moment timestamptz;
  gone {line};
BEGIN
  -- Most are alone.
  UPDATE {keys} k SET taken = 0, capacity = {seats}, id = NULL, steps = k.steps + 1, era = (k.steps + 1) / 64
    WHERE k.key = a_key AND k.era >= (SELECT newest.era FROM {keys} newest WHERE newest.key = a_key ORDER BY newest.era DESC LIMIT 1)
      AND k.id = a_id
    RETURNING k.expires INTO moment;
  IF FOUND THEN
    RETURN moment > clock_timestamp();
  END IF;

  -- The key's row first, here as everywhere: two orders would be a deadlock.
  spot := {spot}(a_key, false);
  IF spot.key IS NULL THEN
    RETURN false;
  END IF;
  IF spot.id = a_id THEN
    -- Alone since just now: the attempt was committed while this waited for the row.
    spot.taken := 0;
    spot.capacity := {seats};
    spot.id := NULL;
    PERFORM {keep}(spot);
    RETURN spot.expires > clock_timestamp();
  END IF;
  -- `|| ''` leaves the planner no index but the one for this.
  DELETE FROM {line} WHERE id = a_id AND key || '' = a_key RETURNING * INTO gone;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  moment := clock_timestamp();
  IF gone.held THEN
    spot.taken := spot.taken - gone.units;
  ELSE
    spot.waits := spot.waits - 1;
  END IF;
  IF spot.taken = 0 THEN
    spot.capacity := {seats};
  END IF;
  IF spot.waits > 0 THEN
    spot := {admit}(spot, moment, NULL);
  END IF;
  PERFORM {keep}(spot);
  RETURN gone.expires > moment;
END
$holdfast$;

-- Gives up one claim and attempts the next of the same process in its place, in one step.
--   key, id   of the claim given up
--   next_*    as for {attempt}
-- Gives `freed`, as {release} does, and what {attempt} gives.
CREATE OR REPLACE FUNCTION {exchange}(
  a_key bytea, a_id text,
  next_key bytea, next_id text, next_units int, next_capacity int, next_ttl float8, next_token_count int, next_label bytea,
  next_queue boolean, next_until float8, next_least bigint, next_channel text, next_grace float8,
  OUT freed boolean, OUT state text, OUT token bigint, OUT ahead int, OUT retry_after float8, OUT server_time float8
) LANGUAGE plpgsql AS $holdfast$
BEGIN
  freed := {release}(a_key, a_id);
  SELECT * INTO state, token, ahead, retry_after, server_time FROM {attempt}(
    next_key, next_id, next_units, next_capacity, next_ttl, next_token_count, next_label,
    next_queue, next_until, next_least, next_channel, next_grace);
END
$holdfast$;
