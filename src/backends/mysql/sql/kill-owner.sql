-- Ends a session if it has the named lock of a key. Its number alone does not tell: on a server that was started again, or has
-- taken over, it is somebody else's.
-- :database, :name as in get-lock.sql; :session
KILL IF(IS_USED_LOCK({hash}) = CAST(:session AS UNSIGNED), CAST(:session AS UNSIGNED), 0)
