-- Takes away the rows of idle keys, unless they were used again since they were read.
-- {list}, :ticket (the floor they are under), :idle (µs)
DELETE FROM {table}
WHERE name IN ({list}) AND line = '' AND ticket <= CAST(:ticket AS UNSIGNED) AND used <= {earliest} - CAST(:idle AS SIGNED)
