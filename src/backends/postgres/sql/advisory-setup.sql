-- Where the tokens of advisory locks come from. Run once per schema and prefix; safe to run again and by many at once.
SELECT pg_advisory_xact_lock(hashtextextended('{tokens}', 0));
CREATE SEQUENCE IF NOT EXISTS {tokens};

-- The next token, or `proposal` if that is more. A process that raises the sequence keeps out all that draw: set and drawn at the same
-- time, it could go back.
CREATE OR REPLACE FUNCTION {token}(proposal bigint) RETURNS bigint
LANGUAGE plpgsql AS $holdfast$
DECLARE
  token bigint;
BEGIN
  IF proposal IS NULL THEN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('{tokens}', 1));
    RETURN nextval('{tokens}');
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('{tokens}', 1));
  token := nextval('{tokens}');
  IF token < proposal THEN
    token := setval('{tokens}', proposal);
  END IF;
  RETURN token;
END
$holdfast$;
