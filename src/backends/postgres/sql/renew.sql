-- Renews many holds at once. Takes no key's lock: it changes nobody's place, and a lapse is looked at again once locked.
--   $1  JSON: [{ "key": hex, "id", "ttl": ms }, …]
-- Gives the position (from 1) of each that was still good.
WITH asked AS (
  SELECT decode(r.key, 'hex') AS key, r.id, r.ttl, r.n
    FROM ROWS FROM (json_to_recordset($1::json) AS (key text, id text, ttl float8)) WITH ORDINALITY AS r(key, id, ttl, n)
), renewed AS (
  UPDATE {line} l SET ttl = asked.ttl, lapses = clock_timestamp() + asked.ttl * interval '1 ms'
    FROM asked
    WHERE l.key = asked.key AND l.id = asked.id AND l.held AND l.lapses > clock_timestamp()
    RETURNING asked.n, l.key, l.lapses
), sooner AS (
  -- Only a lease that was made shorter can lapse before what the key's row says.
  UPDATE {keys} k SET lapses = renewed.lapses FROM renewed WHERE k.key = renewed.key AND k.lapses > renewed.lapses
)
SELECT n::int FROM renewed
