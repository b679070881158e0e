-- Renews many holds at once. In this order: one who is alone may be moved to the line meanwhile, but never back.
--   asked   [{ "key": hex, "id", "ttl": ms }, ...]
-- Gives the position (from 1) of each that was still good.
CREATE OR REPLACE FUNCTION {renew}(asked json) RETURNS SETOF int
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $holdfast$
BEGIN
  RETURN QUERY
    UPDATE {keys} k
      SET ttl = r.ttl, expires = clock_timestamp() + r.ttl * interval '1 ms', steps = k.steps + 1, era = (k.steps + 1) / 64
      FROM ROWS FROM (json_to_recordset(asked) AS (key text, id text, ttl float8)) WITH ORDINALITY AS r(key, id, ttl, n),
        LATERAL (SELECT e.era FROM {keys} e WHERE e.key = decode(r.key, 'hex') ORDER BY e.era DESC LIMIT 1) AS newest
      WHERE k.key = decode(r.key, 'hex') AND k.era >= newest.era AND k.id = r.id AND k.expires > clock_timestamp()
      RETURNING r.n::int;

  -- Takes no key's lock: it changes nobody's place, and an expiry is looked at again once locked.
  RETURN QUERY
    WITH renewed AS (
      UPDATE {line} l SET ttl = r.ttl, expires = clock_timestamp() + r.ttl * interval '1 ms'
        FROM ROWS FROM (json_to_recordset(asked) AS (key text, id text, ttl float8)) WITH ORDINALITY AS r(key, id, ttl, n)
        WHERE l.id = r.id AND l.key || '' = decode(r.key, 'hex') AND l.held AND l.expires > clock_timestamp()
        RETURNING r.n, l.key, l.expires
    ), sooner AS (
      -- Only a lease that was made shorter can expire before what the key's row says.
      UPDATE {keys} k SET expires = renewed.expires, steps = k.steps + 1, era = (k.steps + 1) / 64
        FROM renewed, LATERAL (SELECT e.era FROM {keys} e WHERE e.key = renewed.key ORDER BY e.era DESC LIMIT 1) AS newest
        WHERE k.key = renewed.key AND k.era >= newest.era AND k.expires > renewed.expires
    )
    SELECT renewed.n::int FROM renewed;
END
$holdfast$;
