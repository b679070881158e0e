-- The values of memos.

-- name: value
-- Reads the value of a key.
--   max_age  the largest age, ms; null: any
-- Gives no row, or one: the token of the hold that stored the value, and the value's age (ms), time left (ms), and text as x and hex.
CREATE OR REPLACE FUNCTION {value_of}(a_key bytea, max_age float8) RETURNS TABLE (token bigint, age float8, valid float8, value text)
LANGUAGE plpgsql {by_index} AS $holdfast$
DECLARE
  moment timestamptz := clock_timestamp();
BEGIN
  -- Without this check, the old primary of a fail-over would answer, since nothing is written. It does not know what was stored since.
  IF current_setting('transaction_read_only') = 'on' THEN
    RAISE read_only_sql_transaction USING MESSAGE = 'holdfast: this server is read-only, and may not know the newest value';
  END IF;
  RETURN QUERY
    SELECT newest.token, past.ms, date_part('epoch', newest.until - moment) * 1000, 'x' || encode(newest.text, 'hex')
    FROM (SELECT * FROM {values} v WHERE v.key = a_key ORDER BY v.era DESC LIMIT 1) AS newest,
      LATERAL (SELECT CASE WHEN newest.since < newest.until THEN date_part('epoch', moment - newest.since) * 1000 ELSE 0 END AS ms) AS past
    -- The age is below 0 if the clock was set back.
    WHERE newest.until > moment AND (max_age IS NULL OR past.ms BETWEEN 0 AND max_age);
END
$holdfast$;

-- One attempt of a claim that accepts a value.
-- Gives what {attempt} gives, or the state 'value' with `token` of the hold that stored the value, and
--   attempts           if the claim holds and counts: how many holds began since a value was stored last
--   mark               if the claim is refused: the mark of the hold at the head of the queue, or `-` if that hold does not count; in hex
--   age, valid, value  as {value_of} gives them
CREATE OR REPLACE FUNCTION {ask}(
  claim {claim},
  OUT state text, OUT token bigint, OUT ahead int, OUT retry_after float8, OUT server_time float8,
  OUT attempts int, OUT mark text, OUT age float8, OUT valid float8, OUT value text
) LANGUAGE plpgsql {by_index} AS $holdfast$
DECLARE
  stored record;
  last record;
  ends timestamptz;
BEGIN
  SELECT * INTO stored FROM {value_of}(claim.key, claim.max_age);
  IF NOT FOUND THEN
    SELECT * INTO state, token, ahead, retry_after, server_time FROM {attempt}(claim);
    IF state = 'late' THEN
      RETURN;
    END IF;
    -- A hold that ended meanwhile may have stored a value. A grant has locked the key's row by now, so no value is stored after this look.
    SELECT * INTO stored FROM {value_of}(claim.key, claim.max_age);
  END IF;
  IF FOUND THEN
    SELECT 'value', stored.token, stored.age, stored.valid, stored.value INTO state, token, age, valid, value;
    server_time := date_part('epoch', clock_timestamp()) * 1000;
    -- Most claims that get a value are not in the queue, so they lock nothing.
    PERFORM {release}(claim.key, claim.id)
      WHERE EXISTS (SELECT FROM {queue} q WHERE q.id = claim.id AND q.key || '' = claim.key)
         OR EXISTS (SELECT FROM {keys} k WHERE k.key = claim.key AND k.id = claim.id);
    RETURN;
  END IF;

  SELECT v.attempts, v.begun, v.mark, v.counts > clock_timestamp() AS good INTO last
    FROM {values} v WHERE v.key = claim.key ORDER BY v.era DESC LIMIT 1;
  IF state = 'waits' THEN
    -- The mark may be of an earlier hold, which failed or died, so the tokens are compared.
    mark := encode(convert_to(CASE WHEN last.good AND last.begun = (
      SELECT coalesce(CASE WHEN k.id IS NOT NULL THEN k.token END,
        (SELECT min(q.token) FROM {queue} q WHERE q.key = claim.key AND q.token >= k.first))
      FROM {keys} k WHERE k.key = claim.key ORDER BY k.era DESC LIMIT 1
    ) THEN last.mark ELSE '-' END, 'UTF8'), 'hex');
  ELSIF claim.counts > 0 THEN
    attempts := last.attempts;
    IF last.begun IS DISTINCT FROM token THEN
      attempts := CASE WHEN last.good THEN last.attempts + 1 ELSE 1 END;
      ends := clock_timestamp() + (claim.ttl + claim.counts) * interval '1 ms';
      UPDATE {values} v
        SET attempts = {=ask}.attempts, begun = {=ask}.token, mark = claim.mark, counts = ends,
            steps = v.steps + 1, era = (v.steps + 1) / 64
        WHERE v.key = claim.key
          AND v.era >= (SELECT newest.era FROM {values} newest WHERE newest.key = claim.key ORDER BY newest.era DESC LIMIT 1);
      IF NOT FOUND THEN
        INSERT INTO {values} (key, attempts, begun, mark, counts)
          VALUES (claim.key, {=ask}.attempts, {=ask}.token, claim.mark, ends);
      END IF;
    END IF;
  END IF;
END
$holdfast$;

-- Stores a value under a key, and sets the attempts to 0.
--   ms       how long the value is valid
--   ageless  the time from now on in which the value has the age 0, ms
CREATE OR REPLACE FUNCTION {keep}(a_key bytea, a_token bigint, a_text bytea, ms float8, ageless float8) RETURNS void
LANGUAGE plpgsql {by_index} AS $holdfast$
DECLARE
  moment timestamptz := clock_timestamp();
BEGIN
  UPDATE {values} v
    SET attempts = 0, begun = NULL, mark = NULL, counts = '-infinity',
        token = a_token, since = moment + ageless * interval '1 ms', until = moment + ms * interval '1 ms', text = a_text,
        steps = v.steps + 1, era = (v.steps + 1) / 64
    WHERE v.key = a_key AND v.era >= (SELECT newest.era FROM {values} newest WHERE newest.key = a_key ORDER BY newest.era DESC LIMIT 1);
  IF NOT FOUND THEN
    INSERT INTO {values} (key, token, since, until, text)
      VALUES (a_key, a_token, moment + ageless * interval '1 ms', moment + ms * interval '1 ms', a_text)
      ON CONFLICT DO NOTHING; -- two processes may store one hint at the same time: either text may stay
  END IF;
END
$holdfast$;

-- Releases a claim as {release} does. If it is a hold that has not expired, the same step stores a value, and notifies each process
-- that waits in the queue of the key. The notification does not have the value.
--   ms, ageless  as in {keep}
-- Gives what {release} gives, and whether the value was stored.
CREATE OR REPLACE FUNCTION {store}(a_key bytea, a_id text, a_text bytea, ms float8, ageless float8, OUT freed boolean, OUT stored boolean)
LANGUAGE plpgsql {by_index} AS $holdfast$
DECLARE
  key_row {keys} := {lock_key}(a_key, false);
  moment timestamptz := clock_timestamp();
  mine bigint;
BEGIN
  IF key_row.id = a_id THEN
    mine := CASE WHEN key_row.expires > moment THEN key_row.token END;
  ELSE
    SELECT q.token INTO mine FROM {queue} q WHERE q.id = a_id AND q.key || '' = a_key AND q.held AND q.expires > moment;
  END IF;
  stored := mine IS NOT NULL;
  IF stored THEN
    PERFORM {keep}(a_key, mine, a_text, ms, ageless);
    -- The payload is the key in hex. No other notification is like it.
    IF key_row.waits > 0 AND current_setting('holdfast.quiet', true) IS DISTINCT FROM 'on' THEN
      PERFORM pg_notify(waiting.channel, encode(a_key, 'hex')) FROM (
        SELECT DISTINCT q.channel FROM {queue} q
          WHERE q.key = a_key AND q.token >= key_row.first AND NOT q.held AND q.channel IS NOT NULL
      ) AS waiting;
    END IF;
  END IF;
  freed := {release}(a_key, a_id);
END
$holdfast$;
