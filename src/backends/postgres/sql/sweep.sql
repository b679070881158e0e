-- Removes what nobody asks about any more, from 64 pages of the table of keys and as many of the table of words: expired claims, keys
-- that are not in use, and words that are over. What one call does is bounded by the pages, also where they are full of rows that are dead but cannot be removed yet.
--   every   ms that must have passed since the last sweep of any process, for a sweep to begin
--   idle    ms that a key must have been out of use
--   page    where to go on; 0 begins
-- Gives how many keys were removed, and where to go on: null when this was the end, or it is not time to begin.
CREATE OR REPLACE FUNCTION {sweep_pages}(every float8, idle float8, page bigint, OUT removed bigint, OUT next bigint)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $holdfast$
DECLARE
  moment timestamptz := clock_timestamp();
  pages bigint := greatest(pg_relation_size('{keys}'), pg_relation_size('{words}')) / current_setting('block_size')::int;
  low tid := format('(%s,0)', page);
  high tid;
  spot {keys};
BEGIN
  removed := 0;
  IF page = 0 THEN
    -- One that is still to come: the clock was set back since.
    PERFORM FROM {meta}
      WHERE swept <= moment - every * interval '1 ms' OR swept > moment + interval '1 s' FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      RETURN;
    END IF;
    UPDATE {meta} SET swept = moment;
  ELSE
    -- So that nobody else begins.
    UPDATE {meta} SET swept = moment WHERE swept < moment - least(every, 1000) / 2 * interval '1 ms';
  END IF;
  next := page + 64;
  -- Before version 14 such a range is found by reading the whole table, so there it is one range.
  IF next >= pages OR current_setting('server_version_num')::int < 140000 THEN
    next := NULL;
  END IF;
  high := format('(%s,0)', coalesce(next, 4294967295));
  FOR spot IN
    SELECT * FROM {keys} k
      WHERE k.ctid >= low AND k.ctid < high AND k.expires <= moment
        AND (k.id IS NOT NULL OR EXISTS (SELECT FROM {line} l WHERE l.key = k.key AND l.token >= k.first))
      FOR NO KEY UPDATE SKIP LOCKED
  LOOP
    PERFORM {keep}({settle}(spot, clock_timestamp(), NULL));
  END LOOP;
  -- A key that comes back starts from the sequence, so only rows that the sequence has overtaken may go.
  WITH unused AS (
    SELECT key, era FROM {keys} k
      WHERE k.ctid >= low AND k.ctid < high
        AND k.expires <= moment - idle * interval '1 ms' AND k.last < (SELECT last_value FROM {tokens})
        AND k.id IS NULL AND NOT EXISTS (SELECT FROM {line} l WHERE l.key = k.key AND l.token >= k.first)
      FOR UPDATE SKIP LOCKED
  )
  DELETE FROM {keys} k USING unused WHERE k.key = unused.key AND k.era = unused.era;
  GET DIAGNOSTICS removed = ROW_COUNT;
  -- A role that was given its rights before there were words goes on without.
  IF has_table_privilege('{words}', 'DELETE') THEN
    WITH over AS (
      SELECT key, era FROM {words} w
        WHERE w.ctid >= low AND w.ctid < high AND w.counts <= moment AND w.until <= moment
        FOR UPDATE SKIP LOCKED
    )
    DELETE FROM {words} w USING over WHERE w.key = over.key AND w.era = over.era;
  END IF;
END
$holdfast$;

-- As programs of the first revision call it: a part of the table, anywhere.
CREATE OR REPLACE FUNCTION {sweep}(every float8, idle float8) RETURNS bigint
LANGUAGE plpgsql AS $holdfast$
DECLARE
  pages bigint := pg_relation_size('{keys}') / current_setting('block_size')::int;
BEGIN
  PERFORM FROM {meta} WHERE swept <= clock_timestamp() - every * interval '1 ms';
  RETURN CASE WHEN FOUND THEN (SELECT removed FROM {sweep_pages}(every, idle, floor(random() * pages / 64)::bigint * 64)) ELSE 0 END;
END
$holdfast$;
