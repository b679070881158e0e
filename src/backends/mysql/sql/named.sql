-- name: hash
-- The name of the named lock of a key. HEX, since the names of databases and keys have different character sets.
SHA2(CONCAT(HEX(COALESCE(NULLIF(:database, ''), DATABASE(), '')), '/', HEX(:name)), 256)

-- name: getLock
-- Takes the named lock of a key in this session. The whole server shares these names, which have 64 characters at most, and on some
-- servers no upper case. So a name is a hash in lower case, of the database and the key.
-- :database (of the table; empty: that of the session), :name (prefix/key), :wait (s)
-- :notAfter  the server's time after which the lock must not be taken
-- Result: got: 1 yes, 0 no, -1 too late, NULL an error. now.
SELECT IF({latest} > CAST(:notAfter AS SIGNED), -1, GET_LOCK({hash}, CAST(:wait AS SIGNED))) AS got, {earliest} AS now

-- name: ownsLock
-- Asks which session has a named lock. The statement also keeps this session from being idle.
-- :database, :name as in `getLock`
-- Result: mine: 1 if this session has the lock.
SELECT IS_USED_LOCK({hash}) = CONNECTION_ID() AS mine

-- name: releaseLock
-- :database, :name as in `getLock`
-- Result: freed: 1; 0 if another session has the lock, NULL if none has.
SELECT RELEASE_LOCK({hash}) AS freed

-- name: killOwner
-- Ends a session, if it has the named lock of a key. Its number alone does not identify it: on a server that was restarted, or that has
-- taken over, a different session may have the number. MySQL takes no parameters in a KILL, so the values are in the text.
-- :database, :name as in `getLock`; {session}
KILL IF(IS_USED_LOCK({hash}) = {session}, {session}, 0)

-- name: token
-- Draws the next token of a key, of which this session has the named lock.
-- :name, :minToken
-- Result: insertId. No row is changed if the key has no row yet.
UPDATE {table}
SET token = LAST_INSERT_ID({next}), used = {latest}
WHERE name = :name
