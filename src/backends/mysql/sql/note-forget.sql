-- :name
DELETE FROM {notes} WHERE name = :name
