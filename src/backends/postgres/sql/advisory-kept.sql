-- Whether this is still the session of advisory-look: between two statements a transaction pooler may have changed it.
--   $1  the same number
-- Gives the session's process, and whether the lock was there; it is freed.
SELECT pg_backend_pid()::text AS pid, ((SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
         AND classid = (($1::bigint >> 32) & 4294967295)::oid AND objid = ($1::bigint & 4294967295)::oid) = 1
       AND pg_advisory_unlock($1::bigint))::int AS kept
