-- Takes away the rows of idle keys, unless they were used again since they were read.
-- {names}, :ticket (the floor they are under), :idle (µs)
DELETE FROM {table}
WHERE name IN ({names}) AND line = '' AND ticket <= CAST(:ticket AS UNSIGNED) AND used <= {now} - CAST(:idle AS SIGNED)
