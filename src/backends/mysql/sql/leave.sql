-- Gives up a hold or a place.
-- :name, :mark (`@id `)
-- Result: no row changed: there was none.
--         insertId: 1 if it had not expired as a hold, plus 2 if others stand in the line.
UPDATE {table}
SET line = CONCAT(
      SUBSTRING_INDEX(line, :mark, 1),
      SUBSTRING(line, LOCATE(';', line, INSTR(line, :mark)) + 1)
    ),
    used = {latest}
WHERE name = :name
  AND INSTR(line, :mark) > 0
  AND LAST_INSERT_ID(
    (SUBSTRING(line, INSTR(line, :mark) + LENGTH(:mark), 16) > CAST({earliest} AS CHAR))
    + 2 * (INSTR(line, :mark) > 1 OR LOCATE(';', line) < LENGTH(line))
  ) >= 0
