-- name: closed
-- Whether the server takes no writes. MariaDB 12 has words for more ways to be read-only.
(@@global.read_only NOT IN ('OFF', '0') OR @@global.innodb_read_only)

-- name: open
-- What is open on the session: 2 autocommit is off, 1 a transaction, 0 nothing. NULL on MySQL, which has no variable for it, and
-- takes the inside for a comment: there the answer to a statement without rows tells.
IF(@@autocommit, COALESCE(/*M! @@in_transaction, */ NULL), 2)

-- name: earliest
-- The server's time when this is evaluated, or earlier: what has expired by then has expired. µs since 1970.
--
-- UTC_TIMESTAMP stands still from the start of the statement, also while it waits for a row lock. SYSDATE goes on, but in the
-- session's time zone. So: the start, plus how far SYSDATE is from NOW, which is the start in the same time zone.
-- When the clock was set back in between, this is as far back as the clock is now: others may have stored times by it meanwhile.
-- When summer time began, the modulus takes it out. When it ended, this is an hour early, for this one statement.
(
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + LEAST(
    TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6)),
    MOD(TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6)), 900000000)
  )
)

-- name: latest
-- The server's time when this is evaluated, or later: a lease that counts from then is not too short. µs since 1970.
-- As `earliest`, but when the clock was set back since the start of the statement, or summer time ended, this is the start.
(
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
  + MOD(GREATEST(TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6)), 0), 900000000)
)

-- name: settings
-- What the server says about itself. SHOW, since a variable that one kind of server does not have is an error in a SELECT.
SHOW VARIABLES WHERE Variable_name IN (
  'version', 'read_only', 'super_read_only', 'wsrep_on', 'innodb_flush_log_at_trx_commit', 'log_bin', 'sync_binlog', 'binlog_format',
  'transaction_isolation', 'tx_isolation', 'wait_timeout', 'group_replication_group_name',
  'group_replication_single_primary_mode'
)

-- name: status
-- What the server says about its replication. Any user may ask.
SHOW GLOBAL STATUS WHERE Variable_name IN (
  'Slave_running', 'Slaves_connected', 'Rpl_semi_sync_master_status', 'Rpl_semi_sync_source_status'
)

-- name: server
-- Which server a connection leads to, also through a proxy.
SELECT @@hostname AS host, @@port AS port, @@server_id AS id

-- name: pause
-- Whether SYSDATE goes on during a statement.
SELECT IF(SLEEP(0.002) = 0, SYSDATE(6) > NOW(6), 0) AS moves
