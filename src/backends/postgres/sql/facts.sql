-- What endangers locks on this server, as facts; check.ts judges them. Numbers are text, for pg misreads them where its pool is `binary`.
SELECT current_setting('server_version_num') AS version, pg_is_in_recovery()::int AS replica,
       current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
       current_setting('synchronous_commit') AS synchronous_commit,
       current_setting('synchronous_standby_names') AS standbys,
       current_setting('default_transaction_isolation') AS isolation,
       (SELECT setting FROM pg_settings WHERE name = 'statement_timeout') AS statement_timeout,
       version() AS product,
       -- Asking also frees what nobody needs any more.
       pg_notification_queue_usage()::text AS queue,
       (SELECT count(*)::text FROM pg_stat_replication WHERE coalesce(sync_state, 'async') = 'async') AS replicas,
       (SELECT string_agg(application_name, ', ' ORDER BY application_name) FROM pg_stat_replication WHERE sync_state = 'async')
         AS replica_names,
       (SELECT coalesce(extract(epoch FROM max(clock_timestamp() - xact_start)), 0)::text
          FROM pg_stat_activity WHERE datname = current_database()) AS oldest_transaction
