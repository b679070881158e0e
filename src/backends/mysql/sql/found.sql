-- Writes the table's own row. IGNORE: another process may have been first.
-- :format  the format of the table
INSERT IGNORE INTO {table} (name, token, used, line) VALUES ('', 0, {latest}, :format)
