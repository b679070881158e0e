-- Whose turn it is to sweep: one row is changed for the one process that asks first in each interval. One that is still to come
-- means that the clock was set back since.
-- :interval (µs)
UPDATE {table} SET used = {latest}
WHERE name = '' AND (used <= {earliest} - CAST(:interval AS SIGNED) OR used > {latest} + 1000000)
