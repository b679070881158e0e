-- A sign of life of many claims, at most one of each key: each expires its ttl from now, and if :keeps is 1 no sooner than it
-- would have. What has expired stays so.
-- {list}  one row per claim: name, mark (`@id `), ttl (µs); in the order of the names, so that two of these statements
--         never wait for each other in a circle
-- :notAfter  the server's time after which it is too late
-- Result: how many rows were changed.
UPDATE ({list}) AS claims STRAIGHT_JOIN {table} AS kept ON kept.name = claims.name
SET kept.line = INSERT(
      kept.line, INSTR(kept.line, claims.mark) + LENGTH(claims.mark), 16, GREATEST(
        {latest} + CAST(claims.ttl AS SIGNED),
        CAST(:keeps AS SIGNED) * CAST(SUBSTRING(kept.line, INSTR(kept.line, claims.mark) + LENGTH(claims.mark), 16) AS SIGNED)
      )
    ),
    kept.used = {latest}
WHERE INSTR(kept.line, claims.mark) > 0
  AND SUBSTRING(kept.line, INSTR(kept.line, claims.mark) + LENGTH(claims.mark), 16) > CAST({earliest} AS CHAR)
  AND {latest} <= CAST(:notAfter AS SIGNED)
