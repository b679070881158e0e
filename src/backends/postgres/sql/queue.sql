-- The functions that change the queue of a key. Each locks the key's row first: two orders would be a deadlock.

-- name: queue
-- Locks the row of a key and gives it as it is now; a row of nulls where there is none.
--   make   makes it where there is none
-- The newest era first: see tables.sql. No index keeps a key from having two rows, so a step that makes one holds a lock on the key's
-- name, and looks again under it.
CREATE OR REPLACE FUNCTION {lock_key}(a_key bytea, make boolean) RETURNS {keys}
LANGUAGE plpgsql AS $holdfast$
DECLARE
  key_row {keys};
BEGIN
  SELECT * INTO key_row FROM {keys} WHERE key = a_key ORDER BY era DESC LIMIT 1 FOR NO KEY UPDATE;
  IF FOUND THEN
    RETURN key_row;
  END IF;
  -- An older snapshot would not see the row that another has just made.
  IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
    RAISE serialization_failure USING MESSAGE = 'holdfast: a key cannot be made above READ COMMITTED',
      HINT = 'Call the procedures, as the newest version of holdfast does.';
  END IF;
  -- Also where none is to be made: an attempt of this very claim may be making it, and not have committed.
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

-- Admits from the head of the queue the claims that the rule now admits, and notifies them by NOTIFY.
-- The caller has locked the key's row, gives it as it stands after its own changes, and writes it.
-- A waiting claim that has expired is removed as it comes to the head.
--   moment  the server's time, read under the lock
--   asking  id of a claim that hears of it in its own reply and needs no message
-- Gives the row as it is to be written.
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
      key_row.first := next.token; -- nobody holds, and nobody who waits is before it
    END IF;
    key_row.taken := key_row.taken + next.units;
    key_row.waits := key_row.waits - 1;
    key_row.capacity := least(key_row.capacity, next.capacity);
    key_row.head := next.token + 1;
    UPDATE {queue} SET held = true, expires = moment + next.ttl * interval '1 ms' WHERE key = next.key AND token = next.token;
    -- `quiet`: the queue of messages is full, and would not let the transaction commit.
    IF next.channel IS NOT NULL AND next.id IS DISTINCT FROM asking AND current_setting('holdfast.quiet', true) IS DISTINCT FROM 'on' THEN
      PERFORM pg_notify(next.channel, next.token || ' ' || next.id);
    END IF;
  END LOOP;
  RETURN key_row;
END
$holdfast$;

-- Removes all expired claims of the key's queue, counts the rest again, and admits those that the rule now admits.
-- Linear in the queue, so it runs only when the earliest expiry that is known has come.
-- Its parameters and its result are those of {admit}.
CREATE OR REPLACE FUNCTION {settle}(key_row {keys}, moment timestamptz, asking text) RETURNS {keys}
LANGUAGE plpgsql AS $holdfast$
BEGIN
  -- Nobody has: the row was found by a time from before the clock was set back.
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
