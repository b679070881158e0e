-- The functions that change the queue of a key. Each locks the key's row first: if two locked rows in different orders, they could deadlock.

-- name: queue
-- Locks the row of a key, and gives the row as it is now; a row of nulls if there is none.
--   make   makes the row if there is none
-- It looks for the newest era first: see tables.sql. No index forbids two rows of one key. So a step that makes a row first locks the name
-- of the key, and then looks for a row again.
CREATE OR REPLACE FUNCTION {lock_key}(a_key bytea, make boolean) RETURNS {keys}
LANGUAGE plpgsql AS $holdfast$
DECLARE
  key_row {keys};
BEGIN
  SELECT * INTO key_row FROM {keys} WHERE key = a_key ORDER BY era DESC LIMIT 1 FOR NO KEY UPDATE;
  IF FOUND THEN
    RETURN key_row;
  END IF;
  -- An older snapshot does not show a row that another transaction has just made.
  IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
    RAISE serialization_failure USING MESSAGE = 'holdfast: a key cannot be made above READ COMMITTED',
      HINT = 'Call the procedures, as the newest version of holdfast does.';
  END IF;
  -- Needed without `make`, too: an attempt of the same claim may be making the row, and may not have committed yet.
  PERFORM pg_advisory_xact_lock(hashtextextended('{keys} ' || encode(a_key, 'hex'), 0));
  SELECT * INTO key_row FROM {keys} WHERE key = a_key ORDER BY era DESC LIMIT 1 FOR NO KEY UPDATE;
  IF NOT FOUND AND make THEN
    INSERT INTO {keys} (key, last, capacity, expires) VALUES (a_key, 0, {all_units}, clock_timestamp()) RETURNING * INTO key_row;
  END IF;
  RETURN key_row;
END
$holdfast$;

-- Writes back the row of a key that the caller has locked.
CREATE OR REPLACE FUNCTION {write_key}(key_row {keys}) RETURNS void
LANGUAGE plpgsql AS $holdfast$
BEGIN
  UPDATE {keys}
    SET last = key_row.last, taken = key_row.taken, waits = key_row.waits, capacity = key_row.capacity, expires = key_row.expires,
        id = key_row.id, first = key_row.first, head = key_row.head, steps = key_row.steps + 1, era = (key_row.steps + 1) / 64
    WHERE key = key_row.key AND era = key_row.era;
END
$holdfast$;

-- Admits claims from the head of the queue while they fit, and notifies them by NOTIFY. A waiting claim that has expired is removed when it
-- is at the head.
--   key_row  the key's row, which the caller has locked, with the caller's own changes
--   moment   the server's time, read under the lock
--   asking   the id of the claim whose attempt this is, or null: the answer admits that claim, so it needs no notification
-- Gives the row, which the caller must write.
CREATE OR REPLACE FUNCTION {admit}(key_row {keys}, moment timestamptz, asking text) RETURNS {keys}
LANGUAGE plpgsql AS $holdfast$
DECLARE
  next {queue};
BEGIN
  FOR next IN SELECT * FROM {queue} WHERE key = key_row.key AND token >= key_row.head AND NOT held ORDER BY token LOOP
    IF next.expires <= moment THEN
      DELETE FROM {queue} WHERE key = next.key AND token = next.token;
      key_row.waits := key_row.waits - 1;
      key_row.head := next.token + 1;
      CONTINUE;
    END IF;
    key_row.head := next.token;
    IF key_row.taken + next.units > key_row.capacity AND key_row.taken + next.units <= next.capacity THEN
      SELECT coalesce(min(capacity), {all_units}) INTO key_row.capacity FROM {queue}
        WHERE key = key_row.key AND token >= key_row.first AND token < key_row.head AND held;
    END IF;
    EXIT WHEN key_row.taken + next.units > least(key_row.capacity, next.capacity);
    IF key_row.taken = 0 THEN
      key_row.first := next.token; -- no claim holds, and no claim that waits is ahead
    END IF;
    key_row.taken := key_row.taken + next.units;
    key_row.waits := key_row.waits - 1;
    key_row.capacity := least(key_row.capacity, next.capacity);
    key_row.head := next.token + 1;
    UPDATE {queue} SET held = true, expires = moment + next.ttl * interval '1 ms' WHERE key = next.key AND token = next.token;
    -- `quiet`: the queue of NOTIFY is full, so a transaction with a notification cannot commit.
    IF next.channel IS NOT NULL AND next.id IS DISTINCT FROM asking AND current_setting('holdfast.quiet', true) IS DISTINCT FROM 'on' THEN
      PERFORM pg_notify(next.channel, next.token || ' ' || next.id);
    END IF;
  END LOOP;
  RETURN key_row;
END
$holdfast$;

-- Removes all expired claims of the key's queue, counts the other claims again, and admits those that now fit.
-- The time is linear in the length of the queue, so this runs only when the earliest known expiry has come.
-- The parameters and the result are those of {admit}.
CREATE OR REPLACE FUNCTION {settle}(key_row {keys}, moment timestamptz, asking text) RETURNS {keys}
LANGUAGE plpgsql AS $holdfast$
BEGIN
  -- No claim has expired: since the caller chose the row, the clock was set back.
  IF key_row.expires > moment THEN
    RETURN key_row;
  END IF;
  DELETE FROM {queue} WHERE key = key_row.key AND token >= key_row.first AND expires <= moment;
  key_row.id := NULL; -- the claim that was alone has expired
  SELECT coalesce(sum(units) FILTER (WHERE held), 0), count(*) FILTER (WHERE NOT held),
         coalesce(min(capacity) FILTER (WHERE held), {all_units}), coalesce(min(expires), key_row.expires)
    INTO key_row.taken, key_row.waits, key_row.capacity, key_row.expires
    FROM {queue} WHERE key = key_row.key AND token >= key_row.first;
  RETURN {admit}(key_row, moment, asking);
END
$holdfast$;
