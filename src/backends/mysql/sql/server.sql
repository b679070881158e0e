-- name: closed
-- Whether the server takes no writes. On MariaDB 12, `read_only` has more values than ON and OFF.
(@@global.read_only NOT IN ('OFF', '0') OR @@global.innodb_read_only)

-- name: open
-- What is open on the session: 2 autocommit is off, 1 a transaction, 0 nothing. NULL on MySQL, which has no variable for a transaction, and
-- takes `@@in_transaction` for a comment: there, the answer to a statement without rows has flags that show it.
IF(@@autocommit, COALESCE(/*M! @@in_transaction, */ NULL), 2)

-- name: earliest
-- The server's time when this is evaluated, or earlier: a claim whose expiry is before this time has expired. µs since 1970.
--
-- UTC_TIMESTAMP is the time at which the statement began, also after a wait for a row lock. SYSDATE is the time now, but in the
-- time zone of the session. So this is the beginning, plus the difference of SYSDATE and NOW, the beginning in the same time zone.
-- If the clock was set back since the statement began, this time is set back, too: others may have stored times of that clock meanwhile.
-- If summer time began meanwhile, the modulus takes the hour out. If it ended, this time is an hour early, for this one statement.
(
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + LEAST(
    TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6)),
    MOD(TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6)), 900000000)
  )
)

-- name: latest
-- The server's time when this is evaluated, or later: a lease from this time on is not too short. µs since 1970.
-- As `earliest`, but if the clock was set back since the statement began, or summer time ended, this is the beginning.
(
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
  + MOD(GREATEST(TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6)), 0), 900000000)
)

-- name: settings
-- The settings of the server. By SHOW, since in a SELECT a variable that this kind of server does not have is an error.
SHOW VARIABLES WHERE Variable_name IN (
  'version', 'read_only', 'super_read_only', 'wsrep_on', 'innodb_flush_log_at_trx_commit', 'log_bin', 'sync_binlog', 'binlog_format',
  'transaction_isolation', 'tx_isolation', 'wait_timeout', 'group_replication_group_name',
  'group_replication_single_primary_mode'
)

-- name: status
-- The state of the server's replication. Any user may ask for it.
SHOW GLOBAL STATUS WHERE Variable_name IN (
  'Slave_running', 'Slaves_connected', 'Rpl_semi_sync_master_status', 'Rpl_semi_sync_source_status'
)

-- name: server
-- Which server a connection leads to, even through a proxy.
SELECT @@hostname AS host, @@port AS port, @@server_id AS id

-- name: pause
-- Whether SYSDATE goes on during a statement.
SELECT IF(SLEEP(0.002) = 0, SYSDATE(6) > NOW(6), 0) AS moves
