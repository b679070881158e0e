-- What keeps holds, and removes what is over.

-- name: upkeep
-- Renews many holds at once. In this order: a claim that is alone may be moved to the queue meanwhile, but never back.
--   asked   [{ "key": hex, "id", "ttl": ms }, ...]
-- Gives the position (from 1) of each that was still good.
CREATE OR REPLACE FUNCTION {renew}(asked json) RETURNS SETOF int
LANGUAGE plpgsql {by_index} SET enable_hashjoin = off SET enable_mergejoin = off AS $holdfast$
BEGIN
  RETURN QUERY
    UPDATE {keys} k
      SET ttl = r.ttl, expires = clock_timestamp() + r.ttl * interval '1 ms', steps = k.steps + 1, era = (k.steps + 1) / 64
      FROM ROWS FROM (json_to_recordset(asked) AS (key text, id text, ttl float8)) WITH ORDINALITY AS r(key, id, ttl, n),
        LATERAL (SELECT e.era FROM {keys} e WHERE e.key = decode(r.key, 'hex') ORDER BY e.era DESC LIMIT 1) AS newest
      WHERE k.key = decode(r.key, 'hex') AND k.era >= newest.era AND k.id = r.id AND k.expires > clock_timestamp()
      RETURNING r.n::int;

  -- Takes no key's lock: it changes no order, and an expiry is looked at again once locked.
  RETURN QUERY
    WITH renewed AS (
      UPDATE {queue} q SET ttl = r.ttl, expires = clock_timestamp() + r.ttl * interval '1 ms'
        FROM ROWS FROM (json_to_recordset(asked) AS (key text, id text, ttl float8)) WITH ORDINALITY AS r(key, id, ttl, n)
        WHERE q.id = r.id AND q.key || '' = decode(r.key, 'hex') AND q.held AND q.expires > clock_timestamp()
        RETURNING r.n, q.key, q.expires
    ), sooner AS (
      -- Only a lease that was made shorter can expire before what the key's row says.
      UPDATE {keys} k SET expires = renewed.expires, steps = k.steps + 1, era = (k.steps + 1) / 64
        FROM renewed, LATERAL (SELECT e.era FROM {keys} e WHERE e.key = renewed.key ORDER BY e.era DESC LIMIT 1) AS newest
        WHERE k.key = renewed.key AND k.era >= newest.era AND k.expires > renewed.expires
    )
    SELECT renewed.n::int FROM renewed;
END
$holdfast$;

-- Removes what nobody asks about any more, from 64 pages of the table of keys and as many of the table of values: expired
-- claims, keys that are not in use, and values that are over. What one call does is bounded by the pages, also where they are full of
-- rows that are dead but cannot be removed yet.
--   every   ms that must have passed since the last sweep of any process, for a sweep to begin
--   idle    ms that a key must have been out of use
--   page    where to go on; 0 begins
-- Gives how many keys were removed, and where to go on: null when this was the end, or it is not time to begin.
CREATE OR REPLACE FUNCTION {sweep}(every float8, idle float8, page bigint, OUT removed bigint, OUT next bigint)
LANGUAGE plpgsql {by_index} AS $holdfast$
DECLARE
  moment timestamptz := clock_timestamp();
  pages bigint := greatest(pg_relation_size('{keys}'), pg_relation_size('{values}')) / current_setting('block_size')::int;
  low tid := format('(%s,0)', page);
  high tid;
  key_row {keys};
BEGIN
  removed := 0;
  IF page = 0 THEN
    -- A last sweep that is still to come: the clock was set back since.
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
  FOR key_row IN
    SELECT * FROM {keys} k
      WHERE k.ctid >= low AND k.ctid < high AND k.expires <= moment
        AND (k.id IS NOT NULL OR EXISTS (SELECT FROM {queue} q WHERE q.key = k.key AND q.token >= k.first))
      FOR NO KEY UPDATE SKIP LOCKED
  LOOP
    PERFORM {write_key}({settle}(key_row, clock_timestamp(), NULL));
  END LOOP;
  -- A key that comes back starts from the sequence, so only rows that the sequence has overtaken may go.
  WITH unused AS (
    SELECT key, era FROM {keys} k
      WHERE k.ctid >= low AND k.ctid < high
        AND k.expires <= moment - idle * interval '1 ms' AND k.last < (SELECT last_value FROM {tokens})
        AND k.id IS NULL AND NOT EXISTS (SELECT FROM {queue} q WHERE q.key = k.key AND q.token >= k.first)
      FOR UPDATE SKIP LOCKED
  )
  DELETE FROM {keys} k USING unused WHERE k.key = unused.key AND k.era = unused.era;
  GET DIAGNOSTICS removed = ROW_COUNT;
  -- A role that keeps no values needs no rights to them.
  IF has_table_privilege('{values}', 'DELETE') THEN
    WITH over AS (
      SELECT key, era FROM {values} v
        WHERE v.ctid >= low AND v.ctid < high AND v.counts <= moment AND v.until <= moment
        FOR UPDATE SKIP LOCKED
    )
    DELETE FROM {values} v USING over WHERE v.key = over.key AND v.era = over.era;
  END IF;
END
$holdfast$;
