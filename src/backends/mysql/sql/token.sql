-- The next token of a key whose named lock this session has.
-- :name, :minToken
-- Result: insertId. No row changed: there is no row for the key yet.
UPDATE {table}
SET token = LAST_INSERT_ID(GREATEST(token + 1, CAST(:minToken AS UNSIGNED))), used = {latest}
WHERE name = :name
