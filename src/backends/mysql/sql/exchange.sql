-- Gives up a hold that has not expired, and in the same step takes a place for another claim at the end of the line.
-- :gone (`@id ` of the hold), the rest as in join.sql
-- Result: no row changed: nothing to give up, no room, or too late.
--         insertId: the token, if nobody else stands in the line; else 0, and the line has to be read.
UPDATE {table}
SET line = CONCAT(
      SUBSTRING_INDEX(line, :gone, 1),
      SUBSTRING(line, LOCATE(';', line, INSTR(line, :gone)) + 1),
      :mark, {latest} + CAST(:ttl AS SIGNED), ' ', GREATEST(token + 1, CAST(:minToken AS UNSIGNED)),
      :seats, {latest}, :tail
    ),
    token = GREATEST(token + 1, CAST(:minToken AS UNSIGNED)) + CAST(:tokenCount AS UNSIGNED) - 1,
    used = {latest}
WHERE name = :name
  AND INSTR(line, :gone) > 0
  AND INSTR(line, :mark) = 0
  AND SUBSTRING(line, INSTR(line, :gone) + LENGTH(:gone), 16) > CAST({earliest} AS CHAR)
  AND {latest} <= CAST(:notAfter AS SIGNED)
  AND {room}
  AND LAST_INSERT_ID(
    IF(INSTR(line, :gone) = 1 AND LOCATE(';', line) = LENGTH(line), GREATEST(token + 1, CAST(:minToken AS UNSIGNED)), 0)
  ) >= 0
