-- Before the first step: which table is this, what time is it, and does a statement commit by itself?
-- Result: format, now, autocommit. No row: the table was made, but not founded.
SELECT line AS format, {now} AS now, @@autocommit AS autocommit FROM {table} WHERE name = ''
