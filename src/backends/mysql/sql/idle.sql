-- Keys that nobody has used for :idle µs. A line that is not empty then is one of the dead, or of a hold with a long ttl.
-- :after (the last name of the page before), :idle
SELECT name, ticket, line, {now} AS now FROM {table}
WHERE name > :after AND used <= {now} - CAST(:idle AS SIGNED)
ORDER BY name LIMIT 200
