-- What programs call about words, each in a transaction of its own: see commit.sql.

-- An attempt of a claim that words may answer; before it, where there is a `gone`, that claim is given up in the same step.
CREATE OR REPLACE PROCEDURE {commit_ask}(
  gone_key bytea, gone text,
  a_key bytea, a_id text, a_units int, a_capacity int, a_ttl float8, a_token_count int, a_label bytea,
  a_queue boolean, a_until float8, a_min_token bigint, a_channel text, a_grace float8,
  a_age float8, a_mark text, a_counts float8,
  quiet boolean, INOUT answer text
) LANGUAGE plpgsql AS $holdfast$
DECLARE
  freed boolean;
BEGIN
{prelude}
  PERFORM set_config('holdfast.quiet', 'on', true) WHERE quiet;
  IF gone IS NOT NULL THEN
    freed := {release}(gone_key, gone);
  END IF;
  SELECT (freed, asked.*)::text INTO answer FROM {ask}(
    a_key, a_id, a_units, a_capacity, a_ttl, a_token_count, a_label, a_queue, a_until, a_min_token, a_channel, a_grace, a_age, a_mark, a_counts
  ) AS asked;
  COMMIT;
END
$holdfast$;

CREATE OR REPLACE PROCEDURE {commit_leave}(a_key bytea, a_id text, a_text bytea, ms float8, fresh float8, quiet boolean, INOUT answer text)
LANGUAGE plpgsql AS $holdfast$
BEGIN
{prelude}
  PERFORM set_config('holdfast.quiet', 'on', true) WHERE quiet;
  answer := {leave}(a_key, a_id, a_text, ms, fresh)::text;
  COMMIT;
END
$holdfast$;

-- Gives `token,age,valid,words`, each empty where no words are there, and behind it `attempts,mark,begun`. Words and mark in hex.
CREATE OR REPLACE PROCEDURE {commit_look}(a_key bytea, INOUT answer text)
LANGUAGE plpgsql AS $holdfast$
BEGIN
{prelude}
  SELECT (found.*, coalesce(begun.attempts, 0), encode(convert_to(coalesce(begun.mark, '-'), 'UTF8'), 'hex'), coalesce(begun.begun, 0))::text INTO answer
    FROM (SELECT) AS one
      LEFT JOIN {answer}(a_key, NULL) AS found ON true
      LEFT JOIN LATERAL (SELECT * FROM {words} w WHERE w.key = a_key ORDER BY w.era DESC LIMIT 1) AS begun
        ON begun.counts > clock_timestamp();
  COMMIT;
END
$holdfast$;

-- Gives 1 if words or attempts were there.
CREATE OR REPLACE PROCEDURE {commit_forget}(a_key bytea, INOUT answer text)
LANGUAGE plpgsql AS $holdfast$
BEGIN
{prelude}
  WITH gone AS (
    DELETE FROM {words} WHERE key = a_key RETURNING greatest(counts, until) > clock_timestamp() AS good
  )
  SELECT coalesce(bool_or(good), false)::int INTO answer FROM gone;
  COMMIT;
END
$holdfast$;
