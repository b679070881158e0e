-- name: closed
-- Whether the server takes no writes. On MariaDB 12, `read_only` has more values than ON and OFF.
(@@global.read_only NOT IN ('OFF', '0') OR @@global.innodb_read_only)

-- name: open
-- What is open on the session: 2 autocommit is off, 1 a transaction, 0 nothing. NULL on MySQL, which does not have `@@in_transaction`, and
-- takes it for a comment. On MySQL, the flags in the answer to a statement without rows show what is open.
IF(@@autocommit, COALESCE(/*M! @@in_transaction, */ NULL), 2)

-- name: earliest
-- The server's time when this expression is evaluated, or an earlier one. So a claim has surely expired if it expires before that. µs since 1970.
--
-- UTC_TIMESTAMP is when the statement began, even after a wait for a row lock. In the time zone of the session, NOW is when the statement
-- began, and SYSDATE the time now. So the result is UTC_TIMESTAMP plus the difference of SYSDATE and NOW.
-- If the clock was set back since the statement began, the result is set back, too: others may have stored times of the new clock meanwhile.
-- If summer time began meanwhile, the modulus removes the hour. If it ended, the result is an hour early, for this one statement.
(
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + LEAST(
    TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6)),
    MOD(TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6)), 900000000)
  )
)

-- name: latest
-- The server's time when this expression is evaluated, or later: a lease that begins then is not too short. µs since 1970.
-- As `earliest`, but if the clock was set back since the statement began, or summer time ended, the result is UTC_TIMESTAMP.
(
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
  + MOD(GREATEST(TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6)), 0), 900000000)
)

-- name: settings
-- The settings of the server. SHOW leaves out a variable that this kind of server does not have; a SELECT would fail.
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
