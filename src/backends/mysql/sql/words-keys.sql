-- The keys under which words or attempts are left, of the names from :from up to, but not including, :to, a page at a time.
-- :from, :to
SELECT name, {earliest} AS now, {open} AS open FROM {words}
WHERE name >= :from AND name < :to AND ends > {earliest}
ORDER BY name LIMIT 1000
