-- Notes that a hold has begun, unless a later one has, or has left words. The token comes last: what is before it compares the old one.
-- :name, :token, :mark, :counts (µs from now)
-- Result: insertId: the attempts, this one included.
INSERT INTO {words} (name, attempts, begun, mark, counts, token, since, expires, ends, text)
VALUES (
  :name, LAST_INSERT_ID(1), CAST(:token AS UNSIGNED), :mark, {latest} + CAST(:counts AS SIGNED), 0, 0, 0,
  {latest} + CAST(:counts AS SIGNED), ''
)
ON DUPLICATE KEY UPDATE
  attempts = LAST_INSERT_ID(IF(GREATEST(begun, token) >= CAST(:token AS UNSIGNED), attempts, IF(counts > {earliest}, attempts, 0) + 1)),
  mark = IF(GREATEST(begun, token) >= CAST(:token AS UNSIGNED), mark, VALUES(mark)),
  counts = IF(GREATEST(begun, token) >= CAST(:token AS UNSIGNED), counts, VALUES(counts)),
  ends = IF(GREATEST(begun, token) >= CAST(:token AS UNSIGNED), ends, GREATEST(VALUES(counts), expires)),
  begun = GREATEST(begun, VALUES(begun))
