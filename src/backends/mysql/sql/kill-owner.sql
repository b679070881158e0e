-- Ends a session if it has the named lock of a key. Its number alone does not tell: on a server that was started again, or has
-- taken over, it is somebody else's. MySQL takes no parameters in a KILL, so the values stand in the text.
-- :database, :name as in get-lock.sql; {session}
KILL IF(IS_USED_LOCK({hash}) = {session}, {session}, 0)
