-- What a new session is, and takes a lock on it that advisory-kept looks for.
--   $1  a random number    $2  the process it has to be, or null: on a pooler's session the lock would stay
SELECT pg_backend_pid()::text AS pid, version() AS product, (current_setting('transaction_read_only') = 'on')::int AS read_only,
       (SELECT extract(epoch FROM coalesce(backend_start, pg_postmaster_start_time()))::text
          FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS started,
       CASE WHEN pg_backend_pid() = coalesce($2::int, pg_backend_pid()) THEN pg_advisory_lock($1::bigint) IS NOT NULL END AS locked,
       (extract(epoch FROM clock_timestamp()) * 1000)::text AS server_time
