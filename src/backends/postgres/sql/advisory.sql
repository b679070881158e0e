-- What session locks ask: advisory locks of the server.

-- name: advisorySetup
-- Where the tokens of advisory locks come from.
CREATE SEQUENCE IF NOT EXISTS {tokens};

-- The next token, or `proposal` if that is more. A process that raises the sequence keeps out all that draw: set and drawn at the same
-- time, it could go back.
CREATE OR REPLACE FUNCTION {token}(proposal bigint) RETURNS bigint
LANGUAGE plpgsql AS $holdfast$
DECLARE
  token bigint;
BEGIN
  IF proposal IS NULL THEN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('{tokens}', 1));
    RETURN nextval('{tokens}');
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('{tokens}', 1));
  token := nextval('{tokens}');
  IF token < proposal THEN
    token := setval('{tokens}', proposal);
  END IF;
  RETURN token;
END
$holdfast$;

-- name: advisoryLook
-- What a new session is, and takes a lock on it that `advisoryKept` looks for.
--   $1  a random number    $2  the process it has to be, or null: on a pooler's session the lock would stay
SELECT pg_backend_pid()::text AS pid, version() AS product, (current_setting('transaction_read_only') = 'on')::int AS read_only,
       (SELECT extract(epoch FROM coalesce(backend_start, pg_postmaster_start_time()))::text
          FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS started,
       CASE WHEN pg_backend_pid() = coalesce($2::int, pg_backend_pid()) THEN pg_advisory_lock($1::bigint) IS NOT NULL END AS locked,
       (extract(epoch FROM clock_timestamp()) * 1000)::text AS server_time

-- name: advisoryKept
-- Whether this is still the session of `advisoryLook`: between two statements a transaction pooler may have changed it.
--   $1  the same number
-- Gives the session's process, and whether the lock was there; it is freed.
SELECT pg_backend_pid()::text AS pid, ((SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
         AND classid = (($1::bigint >> 32) & 4294967295)::oid AND objid = ($1::bigint & 4294967295)::oid) = 1
       AND pg_advisory_unlock($1::bigint))::int AS kept

-- name: advisoryAttempt
-- Takes a session lock if it is free; the token is drawn while it is held.
--   $1  the lock    $2  whether it is shared    $3  least token, or null
--   $4  server's time (ms since 1970) after which it must not be taken, or null
-- Gives `token`, null when refused; `late`; `server_time`, ms since 1970.
SELECT late::int, server_time::text, CASE WHEN late THEN NULL
    WHEN CASE WHEN $2::boolean THEN pg_try_advisory_lock_shared($1::bigint) ELSE pg_try_advisory_lock($1::bigint) END
    THEN {token}($3::bigint)::text END AS token
FROM (
  -- OFFSET 0 keeps the planner from reading the clock once for each use.
  SELECT server_time, server_time > coalesce($4::float8, 'infinity') AS late
  FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS server_time OFFSET 0) AS now OFFSET 0
) AS asked

-- name: advisoryWait
-- Waits for a session lock, as long as it takes; the token is drawn while it is held, for FROM comes first.
--   $1  the lock    $2  whether it is shared    $3  least token, or null
SELECT {token}($3::bigint)::text AS token FROM (
  SELECT CASE WHEN $2::boolean THEN pg_advisory_lock_shared($1::bigint) ELSE pg_advisory_lock($1::bigint) END OFFSET 0
) AS waited

-- name: advisoryUnlock
--   $1  the lock    $2  whether it is shared
-- Gives `freed`.
SELECT CASE WHEN $2::boolean THEN pg_advisory_unlock_shared($1::bigint) ELSE pg_advisory_unlock($1::bigint) END::int AS freed
