-- Where the next page of keys ends: a sweep reads so many rows at a time, however few of them are idle.
-- :after (the last name of the page before)
-- Result: last: NULL after the last page.
SELECT MAX(name) AS last FROM (SELECT name FROM {table} WHERE name > :after ORDER BY name LIMIT 2000) AS page
