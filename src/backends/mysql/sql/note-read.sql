-- :name. Its text, if there is one whose time is not over.
SELECT text, {open} AS open FROM {notes} WHERE name = :name AND lapses > {earliest}
