-- name: turn
-- Whether this process sweeps now: in each interval, one row is changed for the first process that asks. A last sweep in the future means
-- that the clock was set back since.
-- :interval (µs)
UPDATE {table} SET used = {latest}
WHERE name = '' AND (used <= {earliest} - CAST(:interval AS SIGNED) OR used > {latest} + 1000000)

-- name: page
-- Finds the last name of the next page. A sweep reads so many rows at a time, even if few of them are idle.
-- :after (the last name of the page before)
-- Result: last: NULL after the last page.
SELECT MAX(name) AS last FROM (SELECT name FROM {table} WHERE name > :after ORDER BY name LIMIT 2000) AS page

-- name: idle
-- Reads the keys of a page that nobody has used for :idle µs, and that have no value and no attempts. If the queue of such a key is not
-- empty, its processes have died, or a hold in it has a long ttl.
-- :after, :last (the last name of the page), :idle
SELECT name, token, queue FROM {table}
WHERE name > :after AND name <= :last AND value_ends <= {earliest} AND used <= {earliest} - CAST(:idle AS SIGNED)

-- name: floor
-- Raises the floor from which the tokens of new rows start. Only then are rows with lower tokens removed: the tokens of a key never go back.
-- :token
UPDATE {table} SET token = GREATEST(token, CAST(:token AS UNSIGNED)) WHERE name = ''

-- name: sweep
-- Removes the rows of idle keys, unless they were used again since they were read.
-- {list}, :token (the floor), :idle (µs)
DELETE FROM {table}
WHERE name IN ({list}) AND queue = '' AND value_ends <= {earliest} AND token <= CAST(:token AS UNSIGNED)
  AND used <= {earliest} - CAST(:idle AS SIGNED)
