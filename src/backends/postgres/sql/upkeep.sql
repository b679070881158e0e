-- Renewals and sweeps.

-- name: upkeep
-- Renews many holds. First the claims that are alone, and then the queues: a claim may move to the queue meanwhile, but never back.
--   asked   [{ "key": hex, "id", "ttl": ms }, ...]
-- Gives the position (from 1) of each hold that had not expired.
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

  -- This update needs no lock of the key's row: a renewal changes no order, and a step under the lock compares each expiry again.
  RETURN QUERY
    WITH renewed AS (
      UPDATE {queue} q SET ttl = r.ttl, expires = clock_timestamp() + r.ttl * interval '1 ms'
        FROM ROWS FROM (json_to_recordset(asked) AS (key text, id text, ttl float8)) WITH ORDINALITY AS r(key, id, ttl, n)
        WHERE q.id = r.id AND q.key || '' = decode(r.key, 'hex') AND q.held AND q.expires > clock_timestamp()
        RETURNING r.n, q.key, q.expires
    ), sooner AS (
      -- Only a lease that was made shorter can expire before the time in the key's row.
      UPDATE {keys} k SET expires = renewed.expires, steps = k.steps + 1, era = (k.steps + 1) / 64
        FROM renewed, LATERAL (SELECT e.era FROM {keys} e WHERE e.key = renewed.key ORDER BY e.era DESC LIMIT 1) AS newest
        WHERE k.key = renewed.key AND k.era >= newest.era AND k.expires > renewed.expires
    )
    SELECT renewed.n::int FROM renewed;
END
$holdfast$;

-- Removes expired claims, keys that nobody uses, and values that are over, from 64 pages of the table of keys and as many of the table of
-- values. The pages limit the work of one call, even if they are full of dead rows that cannot be removed yet.
--   every   the least time between two sweeps by any processes, ms
--   idle    the time without use after which a key is removed, ms
--   page    0 begins a sweep; else `next` of the call before
-- Gives how many keys were removed, and the next page: null if this was the end, or if it is too early to begin.
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
    -- A last sweep in the future means that the clock was set back since.
    PERFORM FROM {meta}
      WHERE swept <= moment - every * interval '1 ms' OR swept > moment + interval '1 s' FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      RETURN;
    END IF;
    UPDATE {meta} SET swept = moment;
  ELSE
    -- Keeps other processes from beginning a sweep.
    UPDATE {meta} SET swept = moment WHERE swept < moment - least(every, 1000) / 2 * interval '1 ms';
  END IF;
  next := page + 64;
  -- Before version 14 the server reads the whole table for a range of ctid, so one call does all pages.
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
  -- The tokens of a key that is used again start from the sequence, so a row may go only if the sequence is above its tokens.
  WITH unused AS (
    SELECT key, era FROM {keys} k
      WHERE k.ctid >= low AND k.ctid < high
        AND k.expires <= moment - idle * interval '1 ms' AND k.last < (SELECT last_value FROM {tokens})
        AND k.id IS NULL AND NOT EXISTS (SELECT FROM {queue} q WHERE q.key = k.key AND q.token >= k.first)
      FOR UPDATE SKIP LOCKED
  )
  DELETE FROM {keys} k USING unused WHERE k.key = unused.key AND k.era = unused.era;
  GET DIAGNOSTICS removed = ROW_COUNT;
  -- A role that stores no values needs no rights on their table.
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
