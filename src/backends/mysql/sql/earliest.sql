-- The server's time when this is evaluated, or earlier: what has expired by then has expired. µs since 1970.
--
-- UTC_TIMESTAMP stands still from the start of the statement, also while it waits for a row lock. SYSDATE goes on, but in the
-- session's time zone. So: the start, plus how far SYSDATE is from NOW, which is the start in the same time zone.
-- When the clock was set back in between, this is as far back as the clock is now: others may have stored times by it meanwhile.
-- When summer time began, the modulus takes it out. When it ended, this is an hour early, for this one statement.
(
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + LEAST(
    TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6)),
    MOD(TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6)), 900000000)
  )
)
