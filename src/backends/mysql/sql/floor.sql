-- Raises the floor that new rows start from, before rows with lower tokens go: tokens of a key never go back.
-- :token
UPDATE {table} SET token = GREATEST(token, CAST(:token AS UNSIGNED)) WHERE name = ''
