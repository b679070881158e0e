-- The procedures that programs call. Each works in a transaction of its own, and has committed when its answer comes. If the application
-- has left a transaction open on the connection, the server refuses the COMMIT (2D000), and the work is undone. So no answer grants a
-- claim that a rollback could still undo.
--   quiet   if true, nobody is notified: while the queue of NOTIFY is full, no transaction with a notification can commit

-- name: begin
LANGUAGE plpgsql AS $holdfast$
BEGIN
  -- At these levels the statements below would fail on rows that changed since the transaction began.
  IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
    COMMIT;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  END IF;
  -- The work is on disk when the answer comes, even if the server's default is not to wait for that.
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  IF quiet THEN
    PERFORM set_config('holdfast.quiet', 'on', true);
  END IF;

-- name: end
  COMMIT;
END
$holdfast$;

-- name: calls
-- Releases the claim `gone`, if it is not null, and then makes an attempt. Gives 1 if `gone` was freed, else 0 or nothing,
-- followed by what {attempt} or {ask} gives.
CREATE OR REPLACE PROCEDURE {commit_attempt}(gone_key bytea, gone text, claim {claim}, quiet boolean, INOUT answer text) {begin}
  IF gone IS NOT NULL THEN
    answer := {release}(gone_key, gone)::int;
  END IF;
  answer := concat(answer, CASE WHEN claim.mark IS NULL THEN {attempt}(claim)::text ELSE {ask}(claim)::text END);
{end}

-- Gives what {release} gives or, if there is a value, {store}.
CREATE OR REPLACE PROCEDURE {commit_release}(
  key bytea, id text, value bytea, ms float8, ageless float8, quiet boolean, INOUT answer text
) {begin}
  answer := CASE WHEN value IS NULL THEN {release}(key, id)::int::text ELSE {store}(key, id, value, ms, ageless)::text END;
{end}

-- Releases the claim with this token by force. Gives 1 if the claim was there and had not expired. All processes that have held a key for a
-- while listen. A process that holds this key then asks at once whether it still does.
CREATE OR REPLACE PROCEDURE {commit_evict}(a_key bytea, a_token bigint, quiet boolean, INOUT answer text) {begin}
  answer := coalesce((
    SELECT {release}(a_key, id)::int FROM (
      SELECT id FROM {queue} WHERE key = a_key AND token = a_token
      UNION ALL
      SELECT id FROM {keys} WHERE key = a_key AND token = a_token AND id IS NOT NULL
    ) AS found LIMIT 1
  ), 0);
  IF answer = '1' AND NOT quiet THEN
    PERFORM pg_notify('{evictions}', encode(a_key, 'hex'));
  END IF;
{end}

-- Gives the positions that {renew} gives, with commas between them.
CREATE OR REPLACE PROCEDURE {commit_renew}(asked json, quiet boolean, INOUT answer text) {begin}
  answer := (SELECT coalesce(string_agg(n::text, ','), '') FROM {renew}(asked) AS n);
{end}

-- Gives `removed,next`.
CREATE OR REPLACE PROCEDURE {commit_sweep}(every float8, idle float8, page bigint, quiet boolean, INOUT answer text) {begin}
  answer := (SELECT removed || ',' || coalesce(next::text, '') FROM {sweep}(every, idle, page));
{end}

-- Gives `(token,age,valid,value,attempts,mark,begun)`: the first four are empty if there is no value; value and mark are in hex.
CREATE OR REPLACE PROCEDURE {commit_look}(a_key bytea, quiet boolean, INOUT answer text) {begin}
  SELECT (
      found.*, coalesce(last.attempts, 0), encode(convert_to(coalesce(last.mark, '-'), 'UTF8'), 'hex'), coalesce(last.begun, 0)
    )::text INTO answer
    FROM (SELECT) AS one
      LEFT JOIN {value_of}(a_key, NULL) AS found ON true
      LEFT JOIN LATERAL (SELECT * FROM {values} v WHERE v.key = a_key ORDER BY v.era DESC LIMIT 1) AS last
        ON last.counts > clock_timestamp();
{end}

-- Gives 1 if there was a value, or if there were attempts.
CREATE OR REPLACE PROCEDURE {commit_forget}(a_key bytea, quiet boolean, INOUT answer text) {begin}
  WITH gone AS (
    DELETE FROM {values} WHERE key = a_key RETURNING greatest(counts, until) > clock_timestamp() AS good
  )
  SELECT coalesce(bool_or(good), false)::int INTO answer FROM gone;
{end}

-- Keeps a hint for `ms` ms: a hint is the value of a key that nobody can lock.
CREATE OR REPLACE PROCEDURE {commit_hint}(a_key bytea, a_text bytea, ms float8, quiet boolean, INOUT answer text) {begin}
  PERFORM {keep}(a_key, 0, a_text, ms, 0);
{end}
