-- The lines of some keys, and the server's time. No locks: a line that was read late shows a claim behind others that have
-- left, never before others that are still there. The table's own row comes, too: without a row nothing would tell of a
-- transaction that was left open, which sees the table as it was when that began.
-- {list}
SELECT name, line, {earliest} AS now, {open} AS open FROM {table} WHERE name IN ('', {list})
