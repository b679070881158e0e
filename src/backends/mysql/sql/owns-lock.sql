-- Also keeps the session from being idle.
-- :database, :name as in get-lock.sql
-- Result: mine: 1 if this session has the lock.
SELECT IS_USED_LOCK({hash}) = CONNECTION_ID() AS mine
