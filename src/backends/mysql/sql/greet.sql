-- Before the first step: which table is this, and what time is it?
-- Result: format, now, open. No row: the table was made, but not founded.
SELECT line AS format, {earliest} AS now, {open} AS open FROM {table} WHERE name = ''
