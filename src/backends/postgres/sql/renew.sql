-- Renews many holds at once. In this order: one who is alone may be moved to the line meanwhile, but never back.
--   asked   [{ "key": hex, "id", "ttl": ms }, ...]
-- Gives the position (from 1) of each that was still good.
CREATE OR REPLACE FUNCTION {renew}(asked json) RETURNS SETOF int
LANGUAGE plpgsql AS $holdfast$
BEGIN
  RETURN QUERY
    UPDATE {keys} k SET ttl = r.ttl, lapses = clock_timestamp() + r.ttl * interval '1 ms'
      FROM ROWS FROM (json_to_recordset(asked) AS (key text, id text, ttl float8)) WITH ORDINALITY AS r(key, id, ttl, n)
      WHERE k.key = decode(r.key, 'hex') AND k.id = r.id AND k.lapses > clock_timestamp()
      RETURNING r.n::int;

  -- Takes no key's lock: it changes nobody's place, and a lapse is looked at again once locked.
  RETURN QUERY
    WITH renewed AS (
      UPDATE {line} l SET ttl = r.ttl, lapses = clock_timestamp() + r.ttl * interval '1 ms'
        FROM ROWS FROM (json_to_recordset(asked) AS (key text, id text, ttl float8)) WITH ORDINALITY AS r(key, id, ttl, n)
        WHERE l.key = decode(r.key, 'hex') AND l.id = r.id AND l.held AND l.lapses > clock_timestamp()
        RETURNING r.n, l.key, l.lapses
    ), sooner AS (
      -- Only a lease that was made shorter can lapse before what the key's row says.
      UPDATE {keys} k SET lapses = renewed.lapses FROM renewed WHERE k.key = renewed.key AND k.lapses > renewed.lapses
    )
    SELECT renewed.n::int FROM renewed;
END
$holdfast$;
