-- The lines that are not empty, of the names from :from up to, but not including, :to, a page at a time.
-- The table's own row comes first, as in read.sql.
-- :from, :to
SELECT name, line, {earliest} AS now, {open} AS open FROM {table}
WHERE name = '' OR (name >= :from AND name < :to AND line <> '')
ORDER BY name LIMIT 200
