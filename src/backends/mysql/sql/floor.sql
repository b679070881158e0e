-- Raises the floor that new rows start from, before rows with lower tickets go: tickets of a key never go back.
-- :ticket
UPDATE {table} SET ticket = GREATEST(ticket, CAST(:ticket AS UNSIGNED)) WHERE name = ''
