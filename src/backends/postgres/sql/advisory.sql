-- The statements of session locks, which are advisory locks of the server.

-- name: advisorySetup
-- Makes the sequence of the tokens of advisory locks, and its function.
CREATE SEQUENCE IF NOT EXISTS {tokens};

-- Gives the next token, or `proposal` if that is more. While a process raises the sequence, no other process draws from it: otherwise
-- the sequence could go back.
CREATE OR REPLACE FUNCTION {token}(proposal bigint) RETURNS bigint
LANGUAGE plpgsql AS $holdfast$
DECLARE
  token bigint;
BEGIN
  PERFORM CASE WHEN proposal IS NULL THEN pg_advisory_xact_lock_shared(hashtextextended('{tokens}', 1))
    ELSE pg_advisory_xact_lock(hashtextextended('{tokens}', 1)) END;
  token := nextval('{tokens}');
  IF token < proposal THEN
    token := setval('{tokens}', proposal);
  END IF;
  -- The server logs the sequence once for many tokens. If another process did so and has not committed yet, this commit waits for the disk, too.
  BEGIN
    PERFORM pg_logical_emit_message(true, 'holdfast', '') WHERE pg_current_wal_flush_lsn() < pg_current_wal_insert_lsn();
  EXCEPTION WHEN object_not_in_prerequisite_state OR feature_not_supported THEN -- Amazon Aurora may refuse to tell of its log
  END;
  RETURN token;
END
$holdfast$;

-- Waits for a session lock, for 5 s at most. A statement under way has a snapshot. VACUUM waits for it, and so does CREATE INDEX CONCURRENTLY:
-- without a limit, an index that is made inside the lock waits for this waiter, and this waiter for the lock.
CREATE OR REPLACE FUNCTION {wait}(lock bigint, shared boolean) RETURNS boolean
LANGUAGE plpgsql SET lock_timeout = '5s' AS $holdfast$
BEGIN
  PERFORM CASE WHEN shared THEN pg_advisory_lock_shared(lock) ELSE pg_advisory_lock(lock) END;
  RETURN true;
EXCEPTION WHEN lock_not_available THEN
  PERFORM pg_advisory_unlock_all(); -- the server may grant the lock just as the time is over
  RETURN false;
END
$holdfast$;

-- name: advisoryLook
-- Reads what a new session is, and takes a lock in it. `advisoryKept` looks for this lock.
--   $1  a random number    $2  the process that must answer; null: any. No other process takes the lock: in a pooler's, it would stay
SELECT pg_backend_pid()::text AS pid, version() AS product, (current_setting('transaction_read_only') = 'on')::int AS read_only,
       (SELECT extract(epoch FROM coalesce(backend_start, pg_postmaster_start_time()))::text
          FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS started,
       CASE WHEN pg_backend_pid() = coalesce($2::int, pg_backend_pid()) THEN pg_advisory_lock($1::bigint) IS NOT NULL END AS locked,
       (extract(epoch FROM clock_timestamp()) * 1000)::text AS server_time

-- name: advisoryKept
-- Finds out whether this is still the session of `advisoryLook`: a transaction pooler may change the session between two statements.
--   $1  the number that `advisoryLook` locked
-- Gives the process of the session, and whether the session still had that lock. Frees the lock.
SELECT pg_backend_pid()::text AS pid, ((SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
         AND classid = (($1::bigint >> 32) & 4294967295)::oid AND objid = ($1::bigint & 4294967295)::oid) = 1
       AND pg_advisory_unlock($1::bigint))::int AS kept

-- name: advisoryAttempt
-- Takes a session lock if it is free. The token is drawn while the lock is held.
--   $1  the lock    $2  whether it is shared    $3  the lowest token allowed, or null
--   $4  the server's time (ms since 1970) after which the lock must not be taken, or null
-- Gives `token`, null if the lock is not free; `late`; `server_time`, ms since 1970.
SELECT late::int, server_time::text, CASE WHEN late THEN NULL
    WHEN CASE WHEN $2::boolean THEN pg_try_advisory_lock_shared($1::bigint) ELSE pg_try_advisory_lock($1::bigint) END
    THEN {token}($3::bigint)::text END AS token
FROM (
  -- OFFSET 0: the clock is read once, and not once for each use.
  SELECT server_time, server_time > coalesce($4::float8, 'infinity') AS late
  FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS server_time OFFSET 0) AS now OFFSET 0
) AS asked

-- name: advisoryWait
-- Waits for a session lock; `token` is null if the lock was not free in time. FROM is evaluated first: the token is drawn while the lock is held.
--   $1  the lock    $2  whether it is shared    $3  the lowest token allowed, or null
SELECT CASE WHEN got THEN {token}($3::bigint)::text END AS token FROM (SELECT {wait}($1::bigint, $2::boolean) AS got OFFSET 0) AS waited

-- name: advisoryUnlock
--   $1  the lock    $2  whether it is shared
-- Gives `freed`.
SELECT CASE WHEN $2::boolean THEN pg_advisory_unlock_shared($1::bigint) ELSE pg_advisory_unlock($1::bigint) END::int AS freed
