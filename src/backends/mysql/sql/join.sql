-- Takes a place at the end of the line, if the line is :expected or, when the claim queues, whatever the line is.
--
-- A place is the text `@id until token take of ttl joined bell label;`. until, always of 16 digits, is when it expires as a
-- hold. Who holds is not stored: it follows from the order and the units (src/core/contract/admission.ts).
--
-- :name, :mark (`@id `), :expected, :queue (0 or 1), :minToken (lowest token), :tokenCount (tokens to reserve)
-- :ttl (µs), :units (` take of ttl `), :tail (` bell label;`), :notAfter (the server's time after which it is too late)
-- Result: no row changed: too late, no such row, there already, no room, or the line is another and the claim does not queue.
--         insertId: the token, if the line was :expected; else 0, and the line has to be read.
UPDATE {table}
SET line = CONCAT(
      line, :mark, {latest} + CAST(:ttl AS SIGNED), ' ', GREATEST(token + 1, CAST(:minToken AS UNSIGNED)),
      :seats, {latest}, :tail
    ),
    token = GREATEST(token + 1, CAST(:minToken AS UNSIGNED)) + CAST(:tokenCount AS UNSIGNED) - 1,
    used = {latest}
WHERE name = :name
  AND (line = :expected OR (CAST(:queue AS UNSIGNED) = 1 AND INSTR(line, :mark) = 0))
  AND {latest} <= CAST(:notAfter AS SIGNED)
  AND {room}
  AND LAST_INSERT_ID(IF(line = :expected, GREATEST(token + 1, CAST(:minToken AS UNSIGNED)), 0)) >= 0
