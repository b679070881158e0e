-- The server's time when this is evaluated, µs since 1970. UTC_TIMESTAMP stands still from the start of the statement,
-- also while it waits for a row lock; SYSDATE goes on, but in the session's time zone. So: the start, plus how far SYSDATE
-- is from NOW, which is the start in the same time zone. The modulus takes out a change of summer time in between.
(
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
  + MOD(TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6)) + 86400000000, 900000000)
)
