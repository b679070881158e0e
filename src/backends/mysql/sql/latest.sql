-- The server's time when this is evaluated, or later: a lease that counts from then is not too short. µs since 1970.
-- As earliest.sql, but when the clock was set back since the start of the statement, or summer time ended, this is the start.
(
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
  + MOD(GREATEST(TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6)), 0), 900000000)
)
