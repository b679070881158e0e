-- Whose turn it is to sweep: one row is changed for the one process that asks first in each interval.
-- :interval (µs)
UPDATE {table} SET used = {latest} WHERE name = '' AND used <= {earliest} - CAST(:interval AS SIGNED)
