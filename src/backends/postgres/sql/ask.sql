-- The words under a key.
--   age  how old they may be, ms; null: as old as they are
-- Gives no row, or one: the token of the hold that left them, for how many ms they are there and will be, and behind an x
-- the words in hex.
CREATE OR REPLACE FUNCTION {answer}(a_key bytea, a_age float8) RETURNS TABLE (token bigint, age float8, valid float8, said text)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $holdfast$
DECLARE
  moment timestamptz := clock_timestamp();
BEGIN
  -- This writes nothing, so a server that was the primary would answer, too. It does not know what was left since.
  IF current_setting('transaction_read_only') = 'on' THEN
    RAISE read_only_sql_transaction USING MESSAGE = 'holdfast: this server is read-only, and may not know the newest words';
  END IF;
  RETURN QUERY
    SELECT newest.token, past.ms, date_part('epoch', newest.until - moment) * 1000, 'x' || encode(newest.text, 'hex')
    FROM (SELECT * FROM {words} w WHERE w.key = a_key ORDER BY w.era DESC LIMIT 1) AS newest,
      LATERAL (SELECT CASE WHEN newest.since < newest.until THEN date_part('epoch', moment - newest.since) * 1000 ELSE 0 END AS ms) AS past
    -- After the clock was set back the age is below 0.
    WHERE newest.until > moment AND (a_age IS NULL OR past.ms BETWEEN 0 AND a_age);
END
$holdfast$;

-- One attempt of a claim that words may answer. The first 12 are as for {attempt}.
--   age     how old the words may be, ms; null: as old as they are
--   mark    what others see of it while it holds
--   counts  for so long after its ttl it counts among the attempts of its key, ms; 0: it does not
-- Gives what {attempt} gives, or the state 'left', with `token` of the hold that left the words; and beside it
--   attempts             of a hold that counts: the holds begun since words were left last
--   mark              of the hold that stands first, in hex, if it counts, where this claim is refused
--   age, valid, said  of the words
CREATE OR REPLACE FUNCTION {ask}(
  a_key bytea, a_id text, a_units int, a_capacity int, a_ttl float8, a_token_count int, a_label bytea,
  a_queue boolean, a_until float8, a_min_token bigint, a_channel text, a_grace float8,
  a_age float8, a_mark text, a_counts float8,
  OUT state text, OUT token bigint, OUT ahead int, OUT retry_after float8, OUT server_time float8,
  OUT attempts int, OUT mark text, OUT age float8, OUT valid float8, OUT said text
) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $holdfast$
DECLARE
  there record;
  last record;
BEGIN
  SELECT * INTO there FROM {answer}(a_key, a_age);
  IF NOT FOUND THEN
    SELECT * INTO state, token, ahead, retry_after, server_time FROM {attempt}(
      a_key, a_id, a_units, a_capacity, a_ttl, a_token_count, a_label, a_queue, a_until, a_min_token, a_channel, a_grace);
    IF state = 'late' THEN
      RETURN;
    END IF;
    -- A hold that ended meanwhile may have left words. A grant has locked the key's row by now, so none come after this look.
    SELECT * INTO there FROM {answer}(a_key, a_age);
  END IF;
  IF FOUND THEN
    SELECT 'left', there.token, there.age, there.valid, there.said INTO state, token, age, valid, said;
    server_time := date_part('epoch', clock_timestamp()) * 1000;
    -- Most of those that are answered have no place, and lock nothing.
    PERFORM {release}(a_key, a_id)
      WHERE EXISTS (SELECT FROM {line} l WHERE l.id = a_id AND l.key || '' = a_key)
         OR EXISTS (SELECT FROM {keys} k WHERE k.key = a_key AND k.id = a_id);
    RETURN;
  END IF;

  SELECT w.attempts, w.begun, w.mark, w.counts > clock_timestamp() AS good INTO last
    FROM {words} w WHERE w.key = a_key ORDER BY w.era DESC LIMIT 1;
  IF state = 'waits' THEN
    -- An earlier hold, which failed or died, may have set the mark.
    mark := encode(convert_to(CASE WHEN last.good AND last.begun = (
      SELECT coalesce(CASE WHEN k.id IS NOT NULL THEN k.token END,
        (SELECT min(l.token) FROM {line} l WHERE l.key = a_key AND l.token >= k.first))
      FROM {keys} k WHERE k.key = a_key ORDER BY k.era DESC LIMIT 1
    ) THEN last.mark ELSE '-' END, 'UTF8'), 'hex');
  ELSIF a_counts > 0 THEN
    attempts := last.attempts;
    IF last.begun IS DISTINCT FROM token THEN
      attempts := CASE WHEN last.good THEN last.attempts + 1 ELSE 1 END;
      PERFORM {begin}(a_key, attempts, token, a_mark, a_ttl + a_counts);
    END IF;
  END IF;
END
$holdfast$;

-- Notes that a hold has begun. The caller has locked the key's row.
CREATE OR REPLACE FUNCTION {begin}(a_key bytea, a_tries int, a_token bigint, a_mark text, ms float8) RETURNS void
LANGUAGE plpgsql AS $holdfast$
BEGIN
  UPDATE {words} w
    SET attempts = a_tries, begun = a_token, mark = a_mark, counts = clock_timestamp() + ms * interval '1 ms',
        steps = w.steps + 1, era = (w.steps + 1) / 64
    WHERE w.key = a_key AND w.era >= (SELECT newest.era FROM {words} newest WHERE newest.key = a_key ORDER BY newest.era DESC LIMIT 1);
  IF NOT FOUND THEN
    INSERT INTO {words} (key, attempts, begun, mark, counts)
      VALUES (a_key, a_tries, a_token, a_mark, clock_timestamp() + ms * interval '1 ms');
  END IF;
END
$holdfast$;
