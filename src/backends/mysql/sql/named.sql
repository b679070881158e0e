-- name: hash
-- The name of the named lock of a key. HEX, since the names of tables and keys have different character sets. LOWER, since many servers
-- find one table by names that differ in case.
SHA2(CONCAT(HEX(LOWER(CONCAT(COALESCE(NULLIF(:database, ''), DATABASE(), ''), '/', :relation))), '/', HEX(:name)), 256)

-- name: getLock
-- Takes the named lock of a key in this session. The whole server shares these names, which have 64 characters at most, and on some
-- servers no upper case. So a name is a hash in lower case, of the table, which has the tokens, and the key.
-- :database (of the table; empty: that of the session), :relation (the table), :name (prefix/key), :wait (s)
-- :notAfter  the server's time after which the lock must not be taken
-- :own  a named lock that this session alone has until the wait is over: `killOwner` finds the session by it
-- Result: got: 1 yes, 0 no, -1 too late, NULL an error. now.
SELECT GET_LOCK(:own, 0) AS own, IF({latest} > CAST(:notAfter AS SIGNED), -1, GET_LOCK({hash}, CAST(:wait AS SIGNED))) AS got,
  RELEASE_LOCK(:own) AS freed, {earliest} AS now

-- name: ownsLock
-- Asks which session has a named lock. The statement also keeps this session from being idle.
-- :database, :relation, :name as in `getLock`
-- Result: mine: 1 if this session has the lock.
SELECT IS_USED_LOCK({hash}) = CONNECTION_ID() AS mine

-- name: releaseLock
-- :database, :relation, :name as in `getLock`
-- Result: freed: 1; 0 if another session has the lock, NULL if none has.
SELECT RELEASE_LOCK({hash}) AS freed

-- name: killOwner
-- Ends a session, if it has the named lock of a key or waits for it. Its number alone does not identify it: on a server that was restarted,
-- or that has taken over, a different session may have the number. MySQL takes no parameters in a KILL, so the values are in the text.
-- :database, :relation, :name, :own as in `getLock`; {session}
KILL IF({session} IN (IS_USED_LOCK({hash}), IS_USED_LOCK(:own)), {session}, 0)

-- name: token
-- Draws the next token of a key, of which this session has the named lock.
-- :name, :minToken
-- Result: insertId. No row is changed if the key has no row yet.
UPDATE {table}
SET token = LAST_INSERT_ID({next}), used = {latest}
WHERE name = :name
