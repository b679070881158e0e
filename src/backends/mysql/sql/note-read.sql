-- :name. Its text, if there is one whose time is not over.
SELECT text FROM {notes} WHERE name = :name AND lapses > {now}
