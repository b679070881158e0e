-- Gives up a hold or a place, and admits whom the rule then admits.
--   key, id   of the claim
-- Gives whether there was a hold or place that had not lapsed.
CREATE OR REPLACE FUNCTION {release}(a_key bytea, a_id text) RETURNS boolean
LANGUAGE plpgsql AS $holdfast$
DECLARE
  spot {keys};
  moment timestamptz;
  gone {line};
BEGIN
  -- Most are alone.
  UPDATE {keys} k SET taken = 0, room = {seats}, id = NULL WHERE k.key = a_key AND k.id = a_id RETURNING k.lapses INTO moment;
  IF FOUND THEN
    RETURN moment > clock_timestamp();
  END IF;

  -- The key's row first, here as everywhere: two orders would be a deadlock.
  SELECT * INTO spot FROM {keys} WHERE key = a_key FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    -- An attempt of this very claim may be making the row, and not have committed: only an insert waits for that.
    INSERT INTO {keys} AS k (key, last, room, lapses) VALUES (a_key, 0, {seats}, clock_timestamp())
      ON CONFLICT (key) DO UPDATE SET last = k.last RETURNING * INTO spot;
  END IF;
  IF spot.id = a_id THEN
    -- Alone since just now: the attempt was committed while this waited for the row.
    UPDATE {keys} SET taken = 0, room = {seats}, id = NULL WHERE key = a_key;
    RETURN spot.lapses > clock_timestamp();
  END IF;
  DELETE FROM {line} WHERE key = a_key AND id = a_id RETURNING * INTO gone;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  moment := clock_timestamp();
  IF gone.held THEN
    spot.taken := spot.taken - gone.take;
  ELSE
    spot.waits := spot.waits - 1;
  END IF;
  IF spot.taken = 0 THEN
    spot.room := {seats};
  END IF;
  IF spot.waits > 0 THEN
    PERFORM {admit}(spot, moment, NULL);
  ELSE
    UPDATE {keys} SET taken = spot.taken, waits = 0, room = spot.room WHERE key = a_key;
  END IF;
  RETURN gone.lapses > moment;
END
$holdfast$;

-- Gives up one claim and attempts the next of the same process in its place, in one step.
--   key, id   of the claim given up
--   next_*    as for {attempt}
-- Gives `freed`, as {release} does, and what {attempt} gives.
CREATE OR REPLACE FUNCTION {exchange}(
  a_key bytea, a_id text,
  next_key bytea, next_id text, next_take int, next_room int, next_ttl float8, next_span int, next_label bytea,
  next_queue boolean, next_until float8, next_least bigint, next_channel text, next_grace float8,
  OUT freed boolean, OUT state text, OUT ticket bigint, OUT ahead int, OUT retry_after float8, OUT server_time float8
) LANGUAGE plpgsql AS $holdfast$
BEGIN
  freed := {release}(a_key, a_id);
  SELECT * INTO state, ticket, ahead, retry_after, server_time FROM {attempt}(
    next_key, next_id, next_take, next_room, next_ttl, next_span, next_label,
    next_queue, next_until, next_least, next_channel, next_grace);
END
$holdfast$;
