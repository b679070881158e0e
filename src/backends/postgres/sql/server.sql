-- Statements about the server, and about what is installed there.

-- name: state
-- Reads what is set up, and the server's time, as text: with a pool that is `binary`, pg misreads numbers.
SELECT format, ({installed}) AS revision,
       current_setting('server_version_num') AS version, version() AS product,
       (extract(epoch FROM clock_timestamp()) * 1000)::text AS server_time
FROM {meta}

-- name: installed
-- The lowest revision of the functions that are there; null if there are none.
SELECT min(substring(prosrc FROM '-- holdfast revision ([0-9]+)')::int) FROM pg_proc
  WHERE pronamespace = to_regnamespace('{schema}') AND '"' || proname || '"' IN ({functions})

-- name: functions
-- The digests of the functions, to be compared with those of this program.
SELECT proname AS name, md5(prosrc) AS digest FROM pg_proc
WHERE pronamespace = to_regnamespace('{schema}') AND '"' || proname || '"' IN ({functions})

-- name: rights
-- Lists what this role lacks to lock: names of objects, or rights on objects. Without USAGE on the schema, the server shows none of its
-- objects.
WITH home AS (
  SELECT coalesce(has_schema_privilege(to_regnamespace('{schema}'), 'USAGE'), true) AS usable
), needed (object, rights) AS (
  VALUES ('{meta}', 'SELECT'), ('{meta}', 'UPDATE'),
         ('{keys}', 'SELECT'), ('{keys}', 'INSERT'), ('{keys}', 'UPDATE'), ('{keys}', 'DELETE'),
         ('{queue}', 'SELECT'), ('{queue}', 'INSERT'), ('{queue}', 'UPDATE'), ('{queue}', 'DELETE'),
         ('{tokens}', 'USAGE and SELECT')
), found AS (
  SELECT object, rights, CASE WHEN usable THEN to_regclass(object)::oid END AS relation FROM needed, home WHERE usable
)
SELECT 'USAGE on schema {schema}' AS missing FROM home WHERE NOT usable
UNION ALL
SELECT CASE WHEN relation IS NULL THEN object ELSE rights || ' on ' || object END
FROM found
WHERE relation IS NULL OR NOT CASE rights
  WHEN 'USAGE and SELECT' THEN has_sequence_privilege(relation, 'USAGE') AND has_sequence_privilege(relation, 'SELECT')
  ELSE has_table_privilege(relation, rights) END
UNION ALL
-- All roles have this right, unless somebody changed the default.
SELECT 'EXECUTE on ' || oid::regprocedure FROM pg_proc
WHERE pronamespace = to_regnamespace('{schema}') AND NOT has_function_privilege(oid, 'EXECUTE') AND '"' || proname || '"' IN ({functions})

-- name: facts
-- The facts for check.ts, which decides whether they endanger locks. Numbers are text: with a pool that is `binary`, pg misreads numbers.
SELECT current_setting('server_version_num') AS version, pg_is_in_recovery()::int AS replica,
       current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
       current_setting('synchronous_commit') AS synchronous_commit,
       current_setting('synchronous_standby_names') AS standbys,
       current_setting('default_transaction_isolation') AS isolation,
       (SELECT setting FROM pg_settings WHERE name = 'statement_timeout') AS statement_timeout,
       version() AS product,
       -- This call also removes notifications that nobody needs any more.
       pg_notification_queue_usage()::text AS queue,
       -- Our sessions are found by their name, also those of other roles; sessions of other programs only if their last statement is LISTEN.
       (SELECT count(*)::text FROM pg_stat_activity WHERE datname = current_database()
          AND (application_name LIKE '% holdfast listens' OR query ILIKE 'listen %')) AS listeners,
       (SELECT count(*)::text FROM pg_stat_replication WHERE coalesce(sync_state, 'async') = 'async') AS replicas,
       (SELECT string_agg(application_name, ', ' ORDER BY application_name) FROM pg_stat_replication WHERE sync_state = 'async')
         AS replica_names,
       (SELECT coalesce(extract(epoch FROM max(clock_timestamp() - xact_start)), 0)::text
          FROM pg_stat_activity WHERE datname = current_database()) AS oldest_transaction
