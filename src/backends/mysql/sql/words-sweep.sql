-- Some of those of which nothing counts any more. By the start of the statement: an index is of no use to a SYSDATE.
DELETE FROM {words} WHERE ends <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) LIMIT 256
