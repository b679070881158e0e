-- Everyone in line for a range of keys, by the rule itself: held follows from order and units.
--   $1, $2  the keys from the first up to, but not including, the second: bytes
-- Gives key and label (hex), held (0 or 1), and as text position (from 0), token, units, capacity, since (ms), remaining (ms): pg misreads
-- numbers where its pool is `binary`. In the order of keys and line (`token` alone would be that text, in which 10 comes before 9).
SELECT encode(standing.key, 'hex') AS key, encode(label, 'hex') AS label,
       (bool_and(total <= smallest) OVER (PARTITION BY standing.key ORDER BY token))::int AS held, position::text,
       token::text, units::text, capacity::text, since::text, remaining::text
FROM (
  SELECT key, token, units, capacity, label,
         sum(units) OVER line AS total, min(capacity) OVER line AS smallest, row_number() OVER line - 1 AS position,
         (date_part('epoch', clock_timestamp() - joined) * 1000) AS since,
         (date_part('epoch', expires - clock_timestamp()) * 1000) AS remaining
  FROM (
    SELECT key, token, units, capacity, label, joined, expires FROM {line}
    UNION ALL
    SELECT key, token, taken, capacity, label, joined, expires FROM {keys} WHERE id IS NOT NULL
  ) AS everyone
  WHERE key >= $1::bytea AND key < $2::bytea AND expires > clock_timestamp()
  WINDOW line AS (PARTITION BY key ORDER BY token)
) AS standing
ORDER BY standing.key, standing.token
