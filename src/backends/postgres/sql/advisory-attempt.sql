-- Takes a session lock if it is free; the token is drawn while it is held.
--   $1  the lock    $2  least token, or null    $3  server's time (ms since 1970) after which it must not be taken, or null
--   {try} is pg_try_advisory_lock or pg_try_advisory_lock_shared
-- Gives `token`, null when refused; `late`; `server_time`, ms since 1970.
SELECT late::int, server_time::text, CASE WHEN NOT late AND {try}($1::bigint) THEN {token}($2::bigint)::text END AS token
FROM (
  -- OFFSET 0 keeps the planner from reading the clock once for each use.
  SELECT server_time, server_time > coalesce($3::float8, 'infinity') AS late
  FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS server_time OFFSET 0) AS now OFFSET 0
) AS asked
