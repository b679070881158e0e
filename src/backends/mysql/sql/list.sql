-- The lines that are not empty, of the names from :from up to, but not including, :to, a page at a time.
-- :from, :to
SELECT name, line, {now} AS now FROM {table}
WHERE name >= :from AND name < :to AND line <> ''
ORDER BY name LIMIT 200
