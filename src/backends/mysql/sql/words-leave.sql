-- Gives up an exclusive hold that has not expired, and leaves words in the same step, which end the attempts. It is the first in its line.
-- The token is given, for the server does not say which of two tables it changes first.
-- :name, :mark (`@id `), :token (of the hold), :text, :ttl (µs), :fresh (µs for which the words have no age yet)
-- Result: no row changed: it does not hold, or the row of the words is missing.
UPDATE {table} AS kept JOIN {words} AS said ON said.name = kept.name
SET kept.line = SUBSTRING(kept.line, LOCATE(';', kept.line) + 1), kept.used = {latest},
    said.attempts = 0, said.begun = 0, said.mark = '-', said.counts = 0,
    said.token = CAST(:token AS UNSIGNED), said.since = IF(:fresh > 0, {latest} + CAST(:fresh AS SIGNED), {earliest}), said.expires = {latest} + CAST(:ttl AS SIGNED),
    said.ends = {latest} + CAST(:ttl AS SIGNED), said.text = :text
WHERE kept.name = :name
  AND INSTR(kept.line, :mark) = 1
  AND SUBSTRING(kept.line, LENGTH(:mark) + 1, 16) > CAST({earliest} AS CHAR)
