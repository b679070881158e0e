-- The steps of one claim.

-- name: claim
-- One attempt of a claim: it holds the key, joins or stays in the queue, or is in no queue afterwards.
-- Gives, in this order, state 'held' | 'waits' | 'late', and
--   token        of the hold
--   ahead        if the claim waits: how many claims are ahead of it
--   retry_after  if the claim waits: ms until one of these may expire
--   server_time  ms since 1970
CREATE OR REPLACE FUNCTION {attempt}(
  claim {claim},
  OUT state text, OUT token bigint, OUT ahead int, OUT retry_after float8, OUT server_time float8
) LANGUAGE plpgsql {by_index} AS $holdfast$
DECLARE
  key_row {keys};
  moment timestamptz;
  mine {queue};
  moved boolean := false;
BEGIN
  -- Most attempts find a key that was used before and is free, so one update is enough. It reads the row after it has locked the
  -- row, so it reads the newest version. date_part gives a float8, which is much quicker than the numeric of extract.
  UPDATE {keys} k
    SET (token, last) = (
          SELECT drawn, drawn + claim.token_count - 1
          FROM (SELECT greatest(k.last + 1, nextval('{tokens}'), claim.min_token) AS drawn OFFSET 0) AS once
        ),
        taken = claim.units, capacity = claim.capacity, expires = clock_timestamp() + claim.ttl * interval '1 ms',
        id = claim.id, ttl = claim.ttl, joined = clock_timestamp(), label = claim.label,
        steps = k.steps + 1, era = (k.steps + 1) / 64
    WHERE k.key = claim.key
      AND k.era >= (SELECT newest.era FROM {keys} newest WHERE newest.key = claim.key ORDER BY newest.era DESC LIMIT 1)
      AND (k.taken = 0 OR k.id IS NOT NULL AND k.expires <= clock_timestamp())
      AND date_part('epoch', clock_timestamp()) * 1000 <= coalesce(claim.until, 'infinity')
    RETURNING k.token, date_part('epoch', clock_timestamp()) * 1000 INTO token, server_time;
  IF FOUND THEN
    state := 'held';
    -- If the update waited for a row that another transaction had only locked, it compared `until` with the time before that wait.
    IF server_time > claim.until THEN
      PERFORM {release}(claim.key, claim.id);
      state := 'late';
    END IF;
    RETURN;
  END IF;

  -- An attempt that cannot succeed writes nothing: no claim has expired, and others wait or too many units are taken.
  IF NOT claim.queue THEN
    moment := clock_timestamp();
    SELECT k.* INTO key_row FROM {keys} k
      WHERE k.key = claim.key
        AND k.era >= (SELECT newest.era FROM {keys} newest WHERE newest.key = claim.key ORDER BY newest.era DESC LIMIT 1)
        AND k.expires > moment AND (k.waits > 0 OR k.taken + claim.units > claim.capacity)
        AND k.id IS DISTINCT FROM claim.id
        AND NOT EXISTS (SELECT FROM {queue} q WHERE q.id = claim.id AND q.key || '' = claim.key);
    IF FOUND THEN
      server_time := date_part('epoch', moment) * 1000;
      state := 'waits';
      SELECT count(*) + (key_row.id IS NOT NULL)::int INTO ahead FROM {queue} q
        WHERE q.key = claim.key AND q.token >= key_row.first;
      retry_after := date_part('epoch', key_row.expires - moment) * 1000;
      RETURN;
    END IF;
  END IF;

  key_row := {lock_key}(claim.key, true);
  -- Not now(), which is the beginning of the transaction, before the wait for the lock.
  moment := clock_timestamp();
  server_time := date_part('epoch', moment) * 1000;
  IF server_time > claim.until THEN
    state := 'late';
    RETURN;
  END IF;
  IF key_row.id IS NOT NULL THEN
    INSERT INTO {queue} VALUES (
      claim.key, key_row.id, key_row.token, key_row.taken, key_row.capacity, key_row.ttl, true, key_row.expires, key_row.joined,
      NULL, key_row.label);
    key_row.id := NULL;
    key_row.first := key_row.token;
    key_row.head := key_row.token + 1;
    moved := true;
  END IF;
  IF key_row.taken > 0 AND key_row.expires <= moment THEN
    key_row := {settle}(key_row, moment, claim.id);
    moved := true;
  END IF;

  UPDATE {queue} q
    SET ttl = claim.ttl, channel = claim.channel,
        -- A hold never expires sooner than a renewal has confirmed.
        expires = CASE WHEN q.held THEN greatest(q.expires, moment + claim.ttl * interval '1 ms')
                      ELSE moment + least(claim.ttl, claim.place_ttl) * interval '1 ms' END
    WHERE q.id = claim.id AND q.key || '' = claim.key
    RETURNING * INTO mine;
  IF FOUND THEN
    IF moved OR mine.expires < key_row.expires THEN
      key_row.expires := least(key_row.expires, mine.expires);
      PERFORM {write_key}(key_row);
    END IF;
  ELSE
    -- The token is drawn under the lock, so tokens become visible in order.
    key_row.last := greatest(key_row.last + 1, nextval('{tokens}'), claim.min_token) + claim.token_count - 1;
    -- The claims that wait go first.
    mine.held := key_row.waits = 0 AND key_row.taken + claim.units <= least(key_row.capacity, claim.capacity);
    mine.token := key_row.last - claim.token_count + 1;
    mine.expires := moment + CASE WHEN mine.held THEN claim.ttl ELSE least(claim.ttl, claim.place_ttl) END * interval '1 ms';
    INSERT INTO {queue} VALUES (
      claim.key, claim.id, mine.token, claim.units, claim.capacity, claim.ttl, mine.held, mine.expires, moment,
      claim.channel, claim.label);
    key_row.expires := CASE WHEN key_row.taken = 0 THEN mine.expires ELSE least(key_row.expires, mine.expires) END;
    IF mine.held THEN
      IF key_row.taken = 0 THEN
        key_row.first := mine.token;
      END IF;
      key_row.head := mine.token + 1;
      key_row.taken := key_row.taken + claim.units;
      key_row.capacity := least(key_row.capacity, claim.capacity);
    ELSE
      -- The capacity in the key's row may be that of a holder that has left. {admit} computes it again.
      key_row.waits := key_row.waits + 1;
      key_row := {admit}(key_row, moment, claim.id);
      SELECT q.held INTO mine.held FROM {queue} q WHERE q.id = claim.id AND q.key || '' = claim.key;
    END IF;
    PERFORM {write_key}(key_row);
  END IF;

  IF mine.held THEN
    state := 'held';
    token := mine.token;
    RETURN;
  END IF;
  state := 'waits';
  SELECT count(*) INTO ahead FROM {queue} q WHERE q.key = claim.key AND q.token >= key_row.first AND q.token < mine.token;
  retry_after := greatest(0, date_part('epoch', key_row.expires - moment) * 1000);
  IF NOT claim.queue THEN
    PERFORM {release}(claim.key, claim.id);
  END IF;
END
$holdfast$;

-- Releases a claim, and admits the claims that then fit. Gives whether the claim was there and had not expired.
CREATE OR REPLACE FUNCTION {release}(a_key bytea, a_id text) RETURNS boolean
LANGUAGE plpgsql {by_index} AS $holdfast$
DECLARE
  key_row {keys};
  moment timestamptz;
  gone {queue};
BEGIN
  -- Most claims are alone.
  UPDATE {keys} k SET taken = 0, capacity = {all_units}, id = NULL, steps = k.steps + 1, era = (k.steps + 1) / 64
    WHERE k.key = a_key AND k.era >= (SELECT newest.era FROM {keys} newest WHERE newest.key = a_key ORDER BY newest.era DESC LIMIT 1)
      AND k.id = a_id
    RETURNING k.expires INTO moment;
  IF FOUND THEN
    RETURN moment > clock_timestamp();
  END IF;

  key_row := {lock_key}(a_key, false);
  IF key_row.key IS NULL THEN
    RETURN false;
  END IF;
  IF key_row.id = a_id THEN
    -- The update above could not see the claim: its attempt committed while this step waited for the row.
    gone.expires := key_row.expires;
    key_row.taken := 0;
    key_row.id := NULL;
  ELSE
    -- With `|| ''` the planner can only use the index of ids.
    DELETE FROM {queue} WHERE id = a_id AND key || '' = a_key RETURNING * INTO gone;
    IF NOT FOUND THEN
      RETURN false;
    END IF;
    key_row.taken := key_row.taken - CASE WHEN gone.held THEN gone.units ELSE 0 END;
    key_row.waits := key_row.waits - (NOT gone.held)::int;
  END IF;
  moment := clock_timestamp();
  IF key_row.taken = 0 THEN
    key_row.capacity := {all_units};
  END IF;
  IF key_row.waits > 0 THEN
    key_row := {admit}(key_row, moment, NULL);
  END IF;
  PERFORM {write_key}(key_row);
  RETURN gone.expires > moment;
END
$holdfast$;
