-- What programs call: each does its work in a transaction of its own, and has committed it when it answers. In a transaction that
-- somebody has left open on the connection the server refuses the COMMIT (2D000), and the work is undone: nobody is told of a
-- grant that a rollback could still take away.
-- The work is done at READ COMMITTED, also where that is not the default: an older snapshot would only have to be refused.
--   quiet   those who are admitted are told nothing: for when the queue of messages is full, and no transaction with a message can commit
-- It is on disk when the answer comes, even where the server's default is not to wait for that.
CREATE OR REPLACE PROCEDURE {commit_attempt}(
  a_key bytea, a_id text, a_units int, a_capacity int, a_ttl float8, a_token_count int, a_label bytea,
  a_queue boolean, a_until float8, a_min_token bigint, a_channel text, a_grace float8,
  quiet boolean, INOUT answer text
) LANGUAGE plpgsql AS $holdfast$
BEGIN
{prelude}
  PERFORM set_config('holdfast.quiet', 'on', true) WHERE quiet;
  answer := {attempt}(a_key, a_id, a_units, a_capacity, a_ttl, a_token_count, a_label, a_queue, a_until, a_min_token, a_channel, a_grace)::text;
  COMMIT;
END
$holdfast$;

CREATE OR REPLACE PROCEDURE {commit_release}(a_key bytea, a_id text, quiet boolean, INOUT answer text)
LANGUAGE plpgsql AS $holdfast$
BEGIN
{prelude}
  PERFORM set_config('holdfast.quiet', 'on', true) WHERE quiet;
  answer := {release}(a_key, a_id)::int;
  COMMIT;
END
$holdfast$;

CREATE OR REPLACE PROCEDURE {commit_exchange}(
  a_key bytea, a_id text,
  next_key bytea, next_id text, next_units int, next_capacity int, next_ttl float8, next_token_count int, next_label bytea,
  next_queue boolean, next_until float8, next_least bigint, next_channel text, next_grace float8,
  quiet boolean, INOUT answer text
) LANGUAGE plpgsql AS $holdfast$
BEGIN
{prelude}
  PERFORM set_config('holdfast.quiet', 'on', true) WHERE quiet;
  answer := {exchange}(
    a_key, a_id, next_key, next_id, next_units, next_capacity, next_ttl, next_token_count, next_label,
    next_queue, next_until, next_least, next_channel, next_grace)::text;
  COMMIT;
END
$holdfast$;

-- Gives the positions with commas between them.
CREATE OR REPLACE PROCEDURE {commit_renew}(asked json, INOUT answer text)
LANGUAGE plpgsql AS $holdfast$
BEGIN
{prelude}
  answer := (SELECT coalesce(string_agg(n::text, ','), '') FROM {renew}(asked) AS n);
  COMMIT;
END
$holdfast$;

-- Forced release of the claim with a token. Gives 1 if it was there and had not expired.
CREATE OR REPLACE PROCEDURE {commit_evict}(a_key bytea, a_token bigint, quiet boolean, INOUT answer text)
LANGUAGE plpgsql AS $holdfast$
BEGIN
{prelude}
  PERFORM set_config('holdfast.quiet', 'on', true) WHERE quiet;
  answer := coalesce((
    SELECT {release}(a_key, id)::int FROM (
      SELECT id FROM {line} WHERE key = a_key AND token = a_token
      UNION ALL
      SELECT id FROM {keys} WHERE key = a_key AND token = a_token AND id IS NOT NULL
    ) AS found LIMIT 1
  ), 0);
  COMMIT;
END
$holdfast$;

-- Gives `removed,next`.
CREATE OR REPLACE PROCEDURE {commit_sweep}(every float8, idle float8, page bigint, quiet boolean, INOUT answer text)
LANGUAGE plpgsql AS $holdfast$
BEGIN
{prelude}
  PERFORM set_config('holdfast.quiet', 'on', true) WHERE quiet;
  answer := (SELECT removed || ',' || coalesce(next::text, '') FROM {sweep_pages}(every, idle, page));
  COMMIT;
END
$holdfast$;
