-- What is read of keys. Keys and texts are in hex.

-- name: inspect
-- All claims in the queues of a range of keys, by the rule itself: held follows from order and units.
--   $1, $2  the keys from the first up to, but not including, the second: bytes
-- Gives key and label (hex), held (0 or 1), and as text position (from 0), token, units, capacity, since (ms), remaining (ms): pg misreads
-- numbers where its pool is `binary`. In the order of keys and queues (`token` alone would be that text, in which 10 comes before 9).
SELECT encode(entry.key, 'hex') AS key, encode(label, 'hex') AS label,
       (bool_and(total <= smallest) OVER (PARTITION BY entry.key ORDER BY token))::int AS held, position::text,
       token::text, units::text, capacity::text, since::text, remaining::text
FROM (
  SELECT key, token, units, capacity, label,
         sum(units) OVER queue AS total, min(capacity) OVER queue AS smallest, row_number() OVER queue - 1 AS position,
         (date_part('epoch', clock_timestamp() - joined) * 1000) AS since,
         (date_part('epoch', expires - clock_timestamp()) * 1000) AS remaining
  FROM (
    SELECT key, token, units, capacity, label, joined, expires FROM {queue}
    UNION ALL
    SELECT key, token, taken, capacity, label, joined, expires FROM {keys} WHERE id IS NOT NULL
  ) AS claims
  WHERE key >= $1::bytea AND key < $2::bytea AND expires > clock_timestamp()
  WINDOW queue AS (PARTITION BY key ORDER BY token)
) AS entry
ORDER BY entry.key, entry.token

-- name: hint
-- $1 name of a hint. Gives its text, if there is one whose time is not over. The lock is for a server that was the primary: it does not know
-- what was written since, and refuses to lock.
SELECT text FROM {hints} WHERE name = $1 AND expires > clock_timestamp() FOR KEY SHARE

-- name: valueKeys
-- The keys that have a value or attempts.
--   $1, $2  the keys from the first up to, but not including, the second: bytes
-- Gives key (hex).
SELECT DISTINCT encode(key, 'hex') AS key FROM {values}
WHERE key >= $1::bytea AND key < $2::bytea AND greatest(counts, until) > clock_timestamp()
