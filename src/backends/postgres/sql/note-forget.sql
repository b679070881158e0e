-- $1 name
DELETE FROM {notes} WHERE name = $1
