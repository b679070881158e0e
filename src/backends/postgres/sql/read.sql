-- Statements that read keys. Keys and texts are in hex.

-- name: inspect
-- Lists the claims of a range of keys, in the order of the keys and of each queue.
--   $1, $2  where the range begins (included) and ends (excluded): bytes
-- Gives key and label in hex, and token, units, capacity, since (ms) and remaining (ms) as text: with a pool that is `binary`, pg misreads numbers.
SELECT encode(key, 'hex') AS key, encode(label, 'hex') AS label, token::text, units::text, capacity::text,
       (date_part('epoch', clock_timestamp() - joined) * 1000)::text AS since,
       (date_part('epoch', expires - clock_timestamp()) * 1000)::text AS remaining
FROM (
  SELECT key, token, units, capacity, label, joined, expires FROM {queue}
  UNION ALL
  SELECT key, token, taken, capacity, label, joined, expires FROM {keys} WHERE id IS NOT NULL
) AS claims
WHERE key >= $1::bytea AND key < $2::bytea AND expires > clock_timestamp()
ORDER BY claims.key, claims.token

-- name: valueKeys
-- The keys that have a value or attempts.
--   $1, $2  where the range begins (included) and ends (excluded): bytes
-- Gives key (hex).
SELECT DISTINCT encode(key, 'hex') AS key FROM {values}
WHERE key >= $1::bytea AND key < $2::bytea AND greatest(counts, until) > clock_timestamp()
