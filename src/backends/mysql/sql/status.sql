-- What the server says about its replication. Any user may ask.
SHOW GLOBAL STATUS WHERE Variable_name IN (
  'Slave_running', 'Slaves_connected', 'Rpl_semi_sync_master_status', 'Rpl_semi_sync_source_status'
)
