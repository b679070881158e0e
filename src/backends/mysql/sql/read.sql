-- The lines of some keys, and the server's time. No locks: a line that was read late shows a claim behind others that have
-- left, never before others that are still there.
-- {list}
SELECT name, line, {now} AS now FROM {table} WHERE name IN ({list})
