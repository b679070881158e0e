-- Gives up a claim as {release} does. If it is a hold that has not expired, it leaves words in the same step: they end the attempts, and
-- each process that waits in the line is told that there are some, but not which.
--   key, id  of the claim
--   ms       how long the words stay
--   fresh    for so long they have no age yet, ms
-- Gives `freed`, as {release} does, and whether the words were left.
CREATE OR REPLACE FUNCTION {leave}(a_key bytea, a_id text, a_text bytea, ms float8, fresh float8, OUT freed boolean, OUT kept boolean)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $holdfast$
DECLARE
  spot {keys} := {spot}(a_key, false);
  moment timestamptz := clock_timestamp();
  mine bigint;
BEGIN
  IF spot.id = a_id THEN
    mine := CASE WHEN spot.expires > moment THEN spot.token END;
  ELSE
    SELECT l.token INTO mine FROM {line} l WHERE l.id = a_id AND l.key || '' = a_key AND l.held AND l.expires > moment;
  END IF;
  kept := mine IS NOT NULL;
  IF kept THEN
    UPDATE {words} w
      SET attempts = 0, begun = NULL, mark = NULL, counts = '-infinity',
          token = mine, since = moment + fresh * interval '1 ms', until = moment + ms * interval '1 ms', text = a_text,
          steps = w.steps + 1, era = (w.steps + 1) / 64
      WHERE w.key = a_key AND w.era >= (SELECT newest.era FROM {words} newest WHERE newest.key = a_key ORDER BY newest.era DESC LIMIT 1);
    IF NOT FOUND THEN
      INSERT INTO {words} (key, token, since, until, text) VALUES (
        a_key, mine, moment + fresh * interval '1 ms', moment + ms * interval '1 ms', a_text);
    END IF;
    -- The key in hex, which no other message looks like: a program that does not know it ignores it.
    IF spot.waits > 0 AND current_setting('holdfast.quiet', true) IS DISTINCT FROM 'on' THEN
      PERFORM pg_notify(waiting.channel, encode(a_key, 'hex')) FROM (
        SELECT DISTINCT l.channel FROM {line} l WHERE l.key = a_key AND l.token >= spot.first AND NOT l.held AND l.channel IS NOT NULL
      ) AS waiting;
    END IF;
  END IF;
  freed := {release}(a_key, a_id);
END
$holdfast$;
