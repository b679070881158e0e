-- $1 name. Gives its text, if there is one whose time is not over.
SELECT text FROM {notes} WHERE name = $1 AND lapses > clock_timestamp()
