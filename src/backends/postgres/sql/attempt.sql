-- One attempt to hold a key: takes the hold, or takes or keeps a place in line, or leaves nothing behind.
--   key, id, units, capacity, ttl (ms), token count, label   of the claim
--   queue    keep a place when refused
--   until    server's time (ms since 1970) after which the attempt must not count; null: no limit
--   least    the token may not be lower; null: any
--   channel  where to NOTIFY once it is admitted; null: nowhere
--   grace    ms after which a place expires unless it is asked for again
-- Gives, in this order, state 'held' | 'waits' | 'late', and beside it
--   token       of the hold
--   ahead        how many stand before it, if it waits
--   retry_after  ms until somebody may expire, if it waits
--   server_time  ms since 1970
CREATE OR REPLACE FUNCTION {attempt}(
  a_key bytea, a_id text, a_units int, a_capacity int, a_ttl float8, a_token_count int, a_label bytea,
  a_queue boolean, a_until float8, a_min_token bigint, a_channel text, a_grace float8,
  OUT state text, OUT token bigint, OUT ahead int, OUT retry_after float8, OUT server_time float8
) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $holdfast$
DECLARE
  spot {keys};
  moment timestamptz;
  mine {line};
  moved boolean := false;
BEGIN
  -- Most attempts find a key that was used before and is free: one update does for them. All that is read here is read under
  -- the row's lock, even after a wait for it. date_part is float8, and much quicker than the numeric of extract.
  UPDATE {keys} k
    SET (token, last) = (
          SELECT drawn, drawn + a_token_count - 1
          FROM (SELECT greatest(k.last + 1, nextval('{tokens}'), a_min_token) AS drawn OFFSET 0) AS once
        ),
        taken = a_units, capacity = a_capacity, expires = clock_timestamp() + a_ttl * interval '1 ms',
        id = a_id, ttl = a_ttl, joined = clock_timestamp(), label = a_label, steps = k.steps + 1, era = (k.steps + 1) / 64
    WHERE k.key = a_key AND k.era >= (SELECT newest.era FROM {keys} newest WHERE newest.key = a_key ORDER BY newest.era DESC LIMIT 1)
      AND (k.taken = 0 OR k.id IS NOT NULL AND k.expires <= clock_timestamp())
      AND date_part('epoch', clock_timestamp()) * 1000 <= coalesce(a_until, 'infinity')
    RETURNING k.token, date_part('epoch', clock_timestamp()) * 1000 INTO token, server_time;
  IF FOUND THEN
    state := 'held';
    -- The time above is older than a wait for a row that was only locked, and is as it was.
    IF server_time > a_until THEN
      PERFORM {release}(a_key, a_id);
      state := 'late';
    END IF;
    RETURN;
  END IF;

  -- A try that cannot succeed writes nothing: nobody has expired, and somebody waits or too much is taken.
  IF NOT a_queue THEN
    moment := clock_timestamp();
    SELECT k.* INTO spot FROM {keys} k
      WHERE k.key = a_key
        AND k.era >= (SELECT newest.era FROM {keys} newest WHERE newest.key = a_key ORDER BY newest.era DESC LIMIT 1)
        AND k.expires > moment AND (k.waits > 0 OR k.taken + a_units > a_capacity)
        AND k.id IS DISTINCT FROM a_id AND NOT EXISTS (SELECT FROM {line} l WHERE l.id = a_id AND l.key || '' = a_key);
    IF FOUND THEN
      server_time := date_part('epoch', moment) * 1000;
      state := 'waits';
      SELECT count(*) + (spot.id IS NOT NULL)::int INTO ahead FROM {line} l
        WHERE l.key = a_key AND l.token >= spot.first;
      retry_after := date_part('epoch', spot.expires - moment) * 1000;
      RETURN;
    END IF;
  END IF;

  spot := {spot}(a_key, true);
  -- Not now(): that is when the transaction began, before the wait for the lock.
  moment := clock_timestamp();
  server_time := date_part('epoch', moment) * 1000;
  IF server_time > a_until THEN
    state := 'late';
    RETURN;
  END IF;
  IF spot.id IS NOT NULL THEN
    INSERT INTO {line} VALUES (
      a_key, spot.id, spot.token, spot.taken, spot.capacity, spot.ttl, true, spot.expires, spot.joined, NULL, spot.label);
    spot.id := NULL;
    spot.first := spot.token;
    spot.head := spot.token + 1;
    moved := true;
  END IF;
  IF spot.taken > 0 AND spot.expires <= moment THEN
    spot := {settle}(spot, moment, a_id);
    moved := true;
  END IF;

  UPDATE {line} l
    SET ttl = a_ttl, channel = a_channel,
        -- Of a hold never sooner than a renewal confirmed.
        expires = CASE WHEN l.held THEN greatest(l.expires, moment + a_ttl * interval '1 ms')
                      ELSE moment + least(a_ttl, a_grace) * interval '1 ms' END
    WHERE l.id = a_id AND l.key || '' = a_key
    RETURNING * INTO mine;
  IF FOUND THEN
    IF moved OR mine.expires < spot.expires THEN
      spot.expires := least(spot.expires, mine.expires);
      PERFORM {keep}(spot);
    END IF;
  ELSE
    -- Drawn under the lock, so that tokens become visible in order.
    spot.last := greatest(spot.last + 1, nextval('{tokens}'), a_min_token) + a_token_count - 1;
    -- The claims that wait go first.
    mine.held := spot.waits = 0 AND spot.taken + a_units <= least(spot.capacity, a_capacity);
    mine.token := spot.last - a_token_count + 1;
    mine.expires := moment + CASE WHEN mine.held THEN a_ttl ELSE least(a_ttl, a_grace) END * interval '1 ms';
    INSERT INTO {line} VALUES (
      a_key, a_id, mine.token, a_units, a_capacity, a_ttl, mine.held, mine.expires, moment, a_channel, a_label);
    spot.expires := CASE WHEN spot.taken = 0 THEN mine.expires ELSE least(spot.expires, mine.expires) END;
    IF mine.held THEN
      IF spot.taken = 0 THEN
        spot.first := mine.token;
      END IF;
      spot.head := mine.token + 1;
      spot.taken := spot.taken + a_units;
      spot.capacity := least(spot.capacity, a_capacity);
    ELSE
      -- The room that was known may be smaller than it is now, and admitting looks closer.
      spot.waits := spot.waits + 1;
      spot := {admit}(spot, moment, a_id);
      SELECT l.held INTO mine.held FROM {line} l WHERE l.id = a_id AND l.key || '' = a_key;
    END IF;
    PERFORM {keep}(spot);
  END IF;

  IF mine.held THEN
    state := 'held';
    token := mine.token;
    RETURN;
  END IF;
  state := 'waits';
  SELECT count(*) INTO ahead FROM {line} l WHERE l.key = a_key AND l.token >= spot.first AND l.token < mine.token;
  retry_after := greatest(0, date_part('epoch', spot.expires - moment) * 1000);
  IF NOT a_queue THEN
    PERFORM {release}(a_key, a_id);
  END IF;
END
$holdfast$;
