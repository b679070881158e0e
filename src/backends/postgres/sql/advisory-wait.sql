-- Waits for a session lock, as long as it takes; the token is drawn while it is held, for FROM comes first.
--   $1  the lock    $2  least token, or null
--   {wait} is pg_advisory_lock or pg_advisory_lock_shared
SELECT {token}($2::bigint)::text AS token FROM {wait}($1::bigint)
