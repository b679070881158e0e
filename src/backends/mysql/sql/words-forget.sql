-- :name
DELETE FROM {words} WHERE name = :name AND GREATEST(counts, expires) > {earliest}
