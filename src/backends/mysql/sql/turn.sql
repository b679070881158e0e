-- Whose turn it is to sweep: one row is changed for the one process that asks first in each interval.
-- :interval (µs)
UPDATE {table} SET used = {now} WHERE name = '' AND used <= {now} - CAST(:interval AS SIGNED)
