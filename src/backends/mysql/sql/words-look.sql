-- :name, :mark (`@id ` of the claim that asks)
-- One row: what is under the key, NULL where nothing is; whether the claim stands in the line; the server's time; and whether the
-- server takes no writes, for one that was the primary does not know what was left since.
SELECT said.attempts, said.begun, said.mark, said.counts, said.token, said.since, said.expires, said.text,
  COALESCE(INSTR(kept.line, :mark), 0) > 0 AS stands, {earliest} AS now, {closed} AS closed, {open} AS open
FROM (SELECT 1) AS one
LEFT JOIN {words} AS said ON said.name = :name
LEFT JOIN {table} AS kept ON kept.name = :name
