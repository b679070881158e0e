-- Whether SYSDATE goes on during a statement.
SELECT IF(SLEEP(0.002) = 0, SYSDATE(6) > NOW(6), 0) AS moves
