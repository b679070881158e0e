-- The next ticket of a key whose named lock this session has.
-- :name, :atLeast
-- Result: insertId. No row changed: there is no row for the key yet.
UPDATE {table}
SET ticket = LAST_INSERT_ID(GREATEST(ticket + 1, CAST(:atLeast AS UNSIGNED))), used = {latest}
WHERE name = :name
