-- $1 name. Gives its text, if there is one whose time is not over. The lock is for a server that was the primary: it does not know
-- what was written since, and refuses to lock.
SELECT text FROM {notes} WHERE name = $1 AND expires > clock_timestamp() FOR KEY SHARE
