-- name: hash
-- The name of the lock of a key. HEX, since the names of databases and keys have different character sets.
SHA2(CONCAT(HEX(COALESCE(NULLIF(:database, ''), DATABASE(), '')), '/', HEX(:name)), 256)

-- name: getLock
-- Takes the named lock of a key in this session. Names are of the whole server, of 64 characters at most, and on some
-- servers without case: hence a hash, in lower case, with the database mixed in.
-- :database (of the table, or empty: the session's), :name (prefix/key), :wait (s)
-- :notAfter  the server's time after which it is too late
-- Result: got: 1 yes, 0 no, -1 too late, NULL an error. now.
SELECT IF({latest} > CAST(:notAfter AS SIGNED), -1, GET_LOCK({hash}, CAST(:wait AS SIGNED))) AS got, {earliest} AS now

-- name: ownsLock
-- Also keeps the session from being idle.
-- :database, :name as in `getLock`
-- Result: mine: 1 if this session has the lock.
SELECT IS_USED_LOCK({hash}) = CONNECTION_ID() AS mine

-- name: releaseLock
-- :database, :name as in `getLock`
-- Result: freed: 1, 0 if it is another session's, NULL if it is nobody's.
SELECT RELEASE_LOCK({hash}) AS freed

-- name: killOwner
-- Ends a session if it has the named lock of a key. Its number alone does not tell: on a server that was started again, or has
-- taken over, it is somebody else's. MySQL takes no parameters in a KILL, so the values stand in the text.
-- :database, :name as in `getLock`; {session}
KILL IF(IS_USED_LOCK({hash}) = {session}, {session}, 0)

-- name: token
-- The next token of a key whose named lock this session has.
-- :name, :minToken
-- Result: insertId. No row changed: there is no row for the key yet.
UPDATE {table}
SET token = LAST_INSERT_ID(GREATEST(token + 1, CAST(:minToken AS UNSIGNED))), used = {latest}
WHERE name = :name
