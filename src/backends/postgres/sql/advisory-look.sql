-- What a new session is, and takes a lock on it that advisory-kept looks for.
--   $1  a random number
SELECT pg_backend_pid() AS pid, pg_is_in_recovery() AS replica,
       (SELECT extract(epoch FROM backend_start)::text FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS started, pg_advisory_lock($1::bigint) IS NOT NULL AS locked,
       (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS server_time
