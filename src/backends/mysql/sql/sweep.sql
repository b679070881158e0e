-- name: turn
-- Whose turn it is to sweep: one row is changed for the one process that asks first in each interval. One that is still to come
-- means that the clock was set back since.
-- :interval (µs)
UPDATE {table} SET used = {latest}
WHERE name = '' AND (used <= {earliest} - CAST(:interval AS SIGNED) OR used > {latest} + 1000000)

-- name: page
-- Where the next page of keys ends: a sweep reads so many rows at a time, however few of them are idle.
-- :after (the last name of the page before)
-- Result: last: NULL after the last page.
SELECT MAX(name) AS last FROM (SELECT name FROM {table} WHERE name > :after ORDER BY name LIMIT 2000) AS page

-- name: idle
-- Keys of a page that nobody has used for :idle µs, and of which memos keep nothing. A queue that is not empty then is one of the dead, or of a hold with a long ttl.
-- :after, :last (where the page ends), :idle
SELECT name, token, queue FROM {table}
WHERE name > :after AND name <= :last AND value_ends <= {earliest} AND used <= {earliest} - CAST(:idle AS SIGNED)

-- name: floor
-- Raises the floor that new rows start from, before rows with lower tokens go: tokens of a key never go back.
-- :token
UPDATE {table} SET token = GREATEST(token, CAST(:token AS UNSIGNED)) WHERE name = ''

-- name: sweep
-- Takes away the rows of idle keys, unless they were used again since they were read.
-- {list}, :token (the floor they are under), :idle (µs)
DELETE FROM {table}
WHERE name IN ({list}) AND queue = '' AND value_ends <= {earliest} AND token <= CAST(:token AS UNSIGNED)
  AND used <= {earliest} - CAST(:idle AS SIGNED)
