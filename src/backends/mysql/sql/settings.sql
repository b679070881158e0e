-- What the server says about itself. SHOW, since a variable that one kind of server does not have is an error in a SELECT.
SHOW VARIABLES WHERE Variable_name IN (
  'version', 'read_only', 'super_read_only', 'wsrep_on', 'innodb_flush_log_at_trx_commit', 'log_bin', 'sync_binlog', 'binlog_format',
  'transaction_isolation', 'tx_isolation', 'wait_timeout', 'group_replication_group_name',
  'group_replication_single_primary_mode'
)
