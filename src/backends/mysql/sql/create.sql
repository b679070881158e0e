-- The row of a key that was never used, or was swept. Its tickets start from the floor. The shared lock keeps the floor
-- where it is until the row is there: a plain read could be older than a sweep that takes the same key away.
-- :name
INSERT IGNORE INTO {table} (name, ticket, used, line)
SELECT :name, ticket, {now}, '' FROM {table} WHERE name = '' LOCK IN SHARE MODE
