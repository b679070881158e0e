-- The row of a key under which nothing was left so far. No sweep takes it for the minute in which it is filled.
-- :name
INSERT IGNORE INTO {words} (name, attempts, begun, mark, counts, token, since, expires, ends, text)
VALUES (:name, 0, 0, '-', 0, 0, 0, 0, {latest} + 60000000, '')
