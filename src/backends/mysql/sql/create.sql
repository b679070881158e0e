-- The row of a key that was never used, or was swept. Its tokens start from the floor. The shared lock keeps the floor
-- where it is until the row is there: a plain read could be older than a sweep that takes the same key away.
-- Not INSERT IGNORE: over the remains of a row that was just swept it takes a shared lock and then wants an exclusive one,
-- which is a deadlock with whoever waits in between. This takes the exclusive one from the start
-- (https://dev.mysql.com/doc/refman/8.0/en/innodb-locks-set.html).
-- :name
INSERT INTO {table} (name, token, used, line)
SELECT :name, own.token, {latest}, '' FROM {table} AS own WHERE own.name = '' LOCK IN SHARE MODE
ON DUPLICATE KEY UPDATE used = VALUES(used)
