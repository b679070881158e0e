-- The keys under which words or attempts are left.
--   $1, $2  the keys from the first up to, but not including, the second: bytes
-- Gives key (hex).
SELECT DISTINCT encode(key, 'hex') AS key FROM {words}
WHERE key >= $1::bytea AND key < $2::bytea AND greatest(counts, until) > clock_timestamp()
