-- name: turn
-- Decides whether this process sweeps now: in each interval, only the first process that asks changes a row. If the last sweep is in the
-- future, the clock was set back since then.
-- :interval (µs)
UPDATE {table} SET used = {latest}
WHERE name = '' AND (used <= {earliest} - CAST(:interval AS SIGNED) OR used > {latest} + 1000000)

-- name: page
-- Finds the last name of the next page. No read scans more than its 2,000 rows.
-- :after (the last name of the page before)
-- Result: last: NULL after the last page.
SELECT MAX(name) AS last FROM (SELECT name FROM {table} WHERE name > :after ORDER BY name LIMIT 2000) AS page

-- name: idle
-- Reads the keys of a page that nobody has used for :idle µs, and that have no value and no attempts. If the queue of such a key is not
-- empty, the processes of its claims have died, or one of its holds has a long ttl.
-- :after, :last (the last name of the page), :idle
SELECT name, token, queue FROM {table}
WHERE name > :after AND name <= :last AND value_ends <= {earliest} AND used <= {earliest} - CAST(:idle AS SIGNED)

-- name: floor
-- Raises the floor from which the tokens of new rows start. Rows with lower tokens are removed only then: the tokens of a key never go back.
-- :token
UPDATE {table} SET token = GREATEST(token, CAST(:token AS UNSIGNED)) WHERE name = ''

-- name: sweep
-- Removes the rows of idle keys, unless they were used again since they were read.
-- {list}, :token (the floor), :idle (µs)
DELETE FROM {table}
WHERE name IN ({list}) AND queue = '' AND value_ends <= {earliest} AND token <= CAST(:token AS UNSIGNED)
  AND used <= {earliest} - CAST(:idle AS SIGNED)
