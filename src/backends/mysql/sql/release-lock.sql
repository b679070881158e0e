-- :database, :name as in get-lock.sql
-- Result: freed: 1, 0 if it is another session's, NULL if it is nobody's.
SELECT RELEASE_LOCK({hash}) AS freed
