-- Keys of a page that nobody has used for :idle µs. A line that is not empty then is one of the dead, or of a hold with a long ttl.
-- :after, :last (where the page ends), :idle
SELECT name, token, line, {earliest} AS now FROM {table}
WHERE name > :after AND name <= :last AND used <= {earliest} - CAST(:idle AS SIGNED)
