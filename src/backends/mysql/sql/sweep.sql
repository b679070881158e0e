-- Takes away the rows of idle keys, unless they were used again since they were read.
-- {list}, :token (the floor they are under), :idle (µs)
DELETE FROM {table}
WHERE name IN ({list}) AND line = '' AND token <= CAST(:token AS UNSIGNED) AND used <= {earliest} - CAST(:idle AS SIGNED)
