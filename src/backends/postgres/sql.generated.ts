// Generated from sql/*.sql by scripts/build-sql.mjs: edit there.

export const admit: string = `-- Admits from the head of the line whomever the rule now admits, and tells them by NOTIFY.
-- The caller has locked the key's row, gives it as it stands after whatever it changed, and writes it.
-- A place that gave no sign of life is dropped as it comes to the head.
--   spot    the key's row
--   moment  the server's time, read under the lock
--   asking  id of a claim that hears of it in its own reply and needs no message
-- Gives the key's row as it is to be written.
CREATE OR REPLACE FUNCTION {admit}(spot {keys}, moment timestamptz, asking text) RETURNS {keys}
LANGUAGE plpgsql AS $holdfast$
DECLARE
  next {line};
BEGIN
  FOR next IN SELECT * FROM {line} WHERE key = spot.key AND ticket >= spot.head AND NOT held ORDER BY ticket LOOP
    IF next.lapses <= moment THEN
      DELETE FROM {line} WHERE key = next.key AND ticket = next.ticket;
      spot.waits := spot.waits - 1;
      spot.head := next.ticket + 1;
      CONTINUE;
    END IF;
    spot.head := next.ticket;
    IF spot.taken + next.take > spot.room AND spot.taken + next.take <= next.room THEN
      SELECT coalesce(min(room), {seats}) INTO spot.room FROM {line}
        WHERE key = spot.key AND ticket >= spot.first AND ticket < spot.head AND held;
    END IF;
    EXIT WHEN spot.taken + next.take > least(spot.room, next.room);
    IF spot.taken = 0 THEN
      spot.first := next.ticket; -- nobody holds, and nobody who waits is before it
    END IF;
    spot.taken := spot.taken + next.take;
    spot.waits := spot.waits - 1;
    spot.room := least(spot.room, next.room);
    spot.head := next.ticket + 1;
    UPDATE {line} SET held = true, lapses = moment + next.ttl * interval '1 ms' WHERE key = next.key AND ticket = next.ticket;
    -- \`quiet\`: the queue of messages is full, and would not let the transaction commit.
    IF next.channel IS NOT NULL AND next.id IS DISTINCT FROM asking AND current_setting('holdfast.quiet', true) IS DISTINCT FROM 'on' THEN
      PERFORM pg_notify(next.channel, next.ticket || ' ' || next.id);
    END IF;
  END LOOP;
  RETURN spot;
END
$holdfast$;`;

export const advisoryAttempt: string = `-- Takes a session lock if it is free; the token is drawn while it is held.
--   $1  the lock    $2  least token, or null    $3  server's time (ms since 1970) after which it must not be taken, or null
--   {try} is pg_try_advisory_lock or pg_try_advisory_lock_shared
-- Gives \`ticket\`, null when refused; \`late\`; \`server_time\`, ms since 1970.
SELECT late::int, server_time::text, CASE WHEN NOT late AND {try}($1::bigint) THEN {token}($2::bigint)::text END AS ticket
FROM (
  -- OFFSET 0 keeps the planner from reading the clock once for each use.
  SELECT server_time, server_time > coalesce($3::float8, 'infinity') AS late
  FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS server_time OFFSET 0) AS now OFFSET 0
) AS asked`;

export const advisoryKept: string = `-- Whether this is still the session of advisory-look: between two statements a transaction pooler may have changed it.
--   $1  the same number
-- Gives the session's process, and whether the lock was there; it is freed.
SELECT pg_backend_pid()::text AS pid, ((SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
         AND classid = (($1::bigint >> 32) & 4294967295)::oid AND objid = ($1::bigint & 4294967295)::oid) = 1
       AND pg_advisory_unlock($1::bigint))::int AS kept`;

export const advisoryLook: string = `-- What a new session is, and takes a lock on it that advisory-kept looks for.
--   $1  a random number    $2  the process it has to be, or null: on a pooler's session the lock would stay
SELECT pg_backend_pid()::text AS pid, version() AS product, (current_setting('transaction_read_only') = 'on')::int AS read_only,
       (SELECT extract(epoch FROM coalesce(backend_start, pg_postmaster_start_time()))::text
          FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS started,
       CASE WHEN pg_backend_pid() = coalesce($2::int, pg_backend_pid()) THEN pg_advisory_lock($1::bigint) IS NOT NULL END AS locked,
       (extract(epoch FROM clock_timestamp()) * 1000)::text AS server_time`;

export const advisorySetup: string = `-- Where the tokens of advisory locks come from. Run once per schema and prefix; safe to run again and by many at once.
SELECT pg_advisory_xact_lock(hashtextextended('{tokens}', 0));
CREATE SEQUENCE IF NOT EXISTS {tokens};

-- The next token, or \`proposal\` if that is more. Whoever raises the sequence keeps out all who draw: set and drawn at the same
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
$holdfast$;`;

export const advisoryWait: string = `-- Waits for a session lock, as long as it takes; the token is drawn while it is held, for FROM comes first.
--   $1  the lock    $2  least token, or null
--   {wait} is pg_advisory_lock or pg_advisory_lock_shared
SELECT {token}($2::bigint)::text AS ticket FROM {wait}($1::bigint)`;

export const ask: string = `-- The words under a key.
--   age  how old they may be, ms; null: as old as they are
-- Gives no row, or one: the ticket of the hold that left them, for how many ms they are there and will be, and behind an x
-- the words in hex.
CREATE OR REPLACE FUNCTION {answer}(a_key bytea, a_age float8) RETURNS TABLE (ticket bigint, age float8, valid float8, said text)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $holdfast$
DECLARE
  moment timestamptz := clock_timestamp();
BEGIN
  -- This writes nothing, so a server that was the primary would answer, too. It does not know what was left since.
  IF current_setting('transaction_read_only') = 'on' THEN
    RAISE read_only_sql_transaction USING MESSAGE = 'holdfast: this server is read-only, and may not know the newest words';
  END IF;
  RETURN QUERY
    SELECT newest.ticket, past.ms, date_part('epoch', newest.until - moment) * 1000, 'x' || encode(newest.text, 'hex')
    FROM (SELECT * FROM {words} w WHERE w.key = a_key ORDER BY w.era DESC LIMIT 1) AS newest,
      LATERAL (SELECT CASE WHEN newest.since < newest.until THEN date_part('epoch', moment - newest.since) * 1000 ELSE 0 END AS ms) AS past
    -- After the clock was set back the age is below 0.
    WHERE newest.until > moment AND (a_age IS NULL OR past.ms BETWEEN 0 AND a_age);
END
$holdfast$;

-- One attempt of a claim that words may answer. The first 12 are as for {attempt}.
--   age     how old the words may be, ms; null: as old as they are
--   mark    what others see of it while it holds
--   counts  for so long after its ttl it counts among the tries of its key, ms; 0: it does not
-- Gives what {attempt} gives, or the state 'left', with \`ticket\` of the hold that left the words; and beside it
--   tries             of a hold that counts: the holds begun since words were left last
--   mark              of the hold that stands first, in hex, if it counts, where this claim is refused
--   age, valid, said  of the words
CREATE OR REPLACE FUNCTION {ask}(
  a_key bytea, a_id text, a_take int, a_room int, a_ttl float8, a_span int, a_label bytea,
  a_queue boolean, a_until float8, a_least bigint, a_channel text, a_grace float8,
  a_age float8, a_mark text, a_counts float8,
  OUT state text, OUT ticket bigint, OUT ahead int, OUT retry_after float8, OUT server_time float8,
  OUT tries int, OUT mark text, OUT age float8, OUT valid float8, OUT said text
) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $holdfast$
DECLARE
  there record;
  last record;
BEGIN
  SELECT * INTO there FROM {answer}(a_key, a_age);
  IF NOT FOUND THEN
    SELECT * INTO state, ticket, ahead, retry_after, server_time FROM {attempt}(
      a_key, a_id, a_take, a_room, a_ttl, a_span, a_label, a_queue, a_until, a_least, a_channel, a_grace);
    IF state = 'late' THEN
      RETURN;
    END IF;
    -- A hold that ended meanwhile may have left words. A grant has locked the key's row by now, so none come after this look.
    SELECT * INTO there FROM {answer}(a_key, a_age);
  END IF;
  IF FOUND THEN
    SELECT 'left', there.ticket, there.age, there.valid, there.said INTO state, ticket, age, valid, said;
    server_time := date_part('epoch', clock_timestamp()) * 1000;
    -- Most of those that are answered have no place, and lock nothing.
    PERFORM {release}(a_key, a_id)
      WHERE EXISTS (SELECT FROM {line} l WHERE l.id = a_id AND l.key || '' = a_key)
         OR EXISTS (SELECT FROM {keys} k WHERE k.key = a_key AND k.id = a_id);
    RETURN;
  END IF;

  SELECT w.tries, w.begun, w.mark, w.counts > clock_timestamp() AS good INTO last
    FROM {words} w WHERE w.key = a_key ORDER BY w.era DESC LIMIT 1;
  IF state = 'waits' THEN
    -- An earlier hold, which failed or died, may have set the mark.
    mark := encode(convert_to(CASE WHEN last.good AND last.begun = (
      SELECT coalesce(CASE WHEN k.id IS NOT NULL THEN k.ticket END,
        (SELECT min(l.ticket) FROM {line} l WHERE l.key = a_key AND l.ticket >= k.first))
      FROM {keys} k WHERE k.key = a_key ORDER BY k.era DESC LIMIT 1
    ) THEN last.mark ELSE '-' END, 'UTF8'), 'hex');
  ELSIF a_counts > 0 THEN
    tries := last.tries;
    IF last.begun IS DISTINCT FROM ticket THEN
      tries := CASE WHEN last.good THEN last.tries + 1 ELSE 1 END;
      PERFORM {begin}(a_key, tries, ticket, a_mark, a_ttl + a_counts);
    END IF;
  END IF;
END
$holdfast$;

-- Notes that a hold has begun. The caller has locked the key's row.
CREATE OR REPLACE FUNCTION {begin}(a_key bytea, a_tries int, a_ticket bigint, a_mark text, ms float8) RETURNS void
LANGUAGE plpgsql AS $holdfast$
BEGIN
  UPDATE {words} w
    SET tries = a_tries, begun = a_ticket, mark = a_mark, counts = clock_timestamp() + ms * interval '1 ms',
        steps = w.steps + 1, era = (w.steps + 1) / 64
    WHERE w.key = a_key AND w.era >= (SELECT newest.era FROM {words} newest WHERE newest.key = a_key ORDER BY newest.era DESC LIMIT 1);
  IF NOT FOUND THEN
    INSERT INTO {words} (key, tries, begun, mark, counts)
      VALUES (a_key, a_tries, a_ticket, a_mark, clock_timestamp() + ms * interval '1 ms');
  END IF;
END
$holdfast$;`;

export const attempt: string = `-- One attempt to hold a key: takes the hold, or takes or keeps a place in line, or leaves nothing behind.
--   key, id, take, room, ttl (ms), span, label   of the claim
--   queue    keep a place when refused
--   until    server's time (ms since 1970) after which the attempt must not count; null: no limit
--   least    the ticket may not be lower; null: any
--   channel  where to NOTIFY once it is admitted; null: nowhere
--   grace    ms after which a place lapses unless it is asked for again
-- Gives, in this order, state 'held' | 'waits' | 'late', and beside it
--   ticket       of the hold
--   ahead        how many stand before it, if it waits
--   retry_after  ms until somebody may lapse, if it waits
--   server_time  ms since 1970
CREATE OR REPLACE FUNCTION {attempt}(
  a_key bytea, a_id text, a_take int, a_room int, a_ttl float8, a_span int, a_label bytea,
  a_queue boolean, a_until float8, a_least bigint, a_channel text, a_grace float8,
  OUT state text, OUT ticket bigint, OUT ahead int, OUT retry_after float8, OUT server_time float8
) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $holdfast$
DECLARE
  spot {keys};
  moment timestamptz;
  mine {line};
  moved boolean := false;
BEGIN
  -- Most attempts find a key that was used before and is free: one update does for them. All that is read here is read under
  -- the row's lock, even after a wait for it. date_part is float8, and much quicker than the numeric of extract.
  UPDATE {keys} k
    SET (ticket, last) = (
          SELECT drawn, drawn + a_span - 1
          FROM (SELECT greatest(k.last + 1, nextval('{tickets}'), a_least) AS drawn OFFSET 0) AS once
        ),
        taken = a_take, room = a_room, lapses = clock_timestamp() + a_ttl * interval '1 ms',
        id = a_id, ttl = a_ttl, joined = clock_timestamp(), label = a_label, steps = k.steps + 1, era = (k.steps + 1) / 64
    WHERE k.key = a_key AND k.era >= (SELECT newest.era FROM {keys} newest WHERE newest.key = a_key ORDER BY newest.era DESC LIMIT 1)
      AND (k.taken = 0 OR k.id IS NOT NULL AND k.lapses <= clock_timestamp())
      AND date_part('epoch', clock_timestamp()) * 1000 <= coalesce(a_until, 'infinity')
    RETURNING k.ticket, date_part('epoch', clock_timestamp()) * 1000 INTO ticket, server_time;
  IF FOUND THEN
    state := 'held';
    -- The time above is older than a wait for a row that was only locked, and is as it was.
    IF server_time > a_until THEN
      PERFORM {release}(a_key, a_id);
      state := 'late';
    END IF;
    RETURN;
  END IF;

  -- A try that cannot succeed writes nothing: nobody has lapsed, and somebody waits or too much is taken.
  IF NOT a_queue THEN
    moment := clock_timestamp();
    SELECT k.* INTO spot FROM {keys} k
      WHERE k.key = a_key
        AND k.era >= (SELECT newest.era FROM {keys} newest WHERE newest.key = a_key ORDER BY newest.era DESC LIMIT 1)
        AND k.lapses > moment AND (k.waits > 0 OR k.taken + a_take > a_room)
        AND k.id IS DISTINCT FROM a_id AND NOT EXISTS (SELECT FROM {line} l WHERE l.id = a_id AND l.key || '' = a_key);
    IF FOUND THEN
      server_time := date_part('epoch', moment) * 1000;
      state := 'waits';
      SELECT count(*) + (spot.id IS NOT NULL)::int INTO ahead FROM {line} l
        WHERE l.key = a_key AND l.ticket >= spot.first;
      retry_after := date_part('epoch', spot.lapses - moment) * 1000;
      RETURN;
    END IF;
  END IF;

  spot := {spot}(a_key, true);
  -- Not now(): that is when the transaction began, before the wait for the lock.
  moment := clock_timestamp();
  server_time := date_part('epoch', moment) * 1000;
  IF server_time > a_until THEN
    state := 'late';
    RETURN;
  END IF;
  IF spot.id IS NOT NULL THEN
    INSERT INTO {line} VALUES (
      a_key, spot.id, spot.ticket, spot.taken, spot.room, spot.ttl, true, spot.lapses, spot.joined, NULL, spot.label);
    spot.id := NULL;
    spot.first := spot.ticket;
    spot.head := spot.ticket + 1;
    moved := true;
  END IF;
  IF spot.taken > 0 AND spot.lapses <= moment THEN
    spot := {settle}(spot, moment, a_id);
    moved := true;
  END IF;

  UPDATE {line} l
    SET ttl = a_ttl, channel = a_channel,
        -- Of a hold never sooner than a renewal confirmed.
        lapses = CASE WHEN l.held THEN greatest(l.lapses, moment + a_ttl * interval '1 ms')
                      ELSE moment + least(a_ttl, a_grace) * interval '1 ms' END
    WHERE l.id = a_id AND l.key || '' = a_key
    RETURNING * INTO mine;
  IF FOUND THEN
    IF moved OR mine.lapses < spot.lapses THEN
      spot.lapses := least(spot.lapses, mine.lapses);
      PERFORM {keep}(spot);
    END IF;
  ELSE
    -- Drawn under the lock, so that tickets become visible in order.
    spot.last := greatest(spot.last + 1, nextval('{tickets}'), a_least) + a_span - 1;
    -- Whoever waits goes first.
    mine.held := spot.waits = 0 AND spot.taken + a_take <= least(spot.room, a_room);
    mine.ticket := spot.last - a_span + 1;
    mine.lapses := moment + CASE WHEN mine.held THEN a_ttl ELSE least(a_ttl, a_grace) END * interval '1 ms';
    INSERT INTO {line} VALUES (
      a_key, a_id, mine.ticket, a_take, a_room, a_ttl, mine.held, mine.lapses, moment, a_channel, a_label);
    spot.lapses := CASE WHEN spot.taken = 0 THEN mine.lapses ELSE least(spot.lapses, mine.lapses) END;
    IF mine.held THEN
      IF spot.taken = 0 THEN
        spot.first := mine.ticket;
      END IF;
      spot.head := mine.ticket + 1;
      spot.taken := spot.taken + a_take;
      spot.room := least(spot.room, a_room);
    ELSE
      -- The room that was known may be smaller than it is now, and admitting looks closer.
      spot.waits := spot.waits + 1;
      spot := {admit}(spot, moment, a_id);
      SELECT l.held INTO mine.held FROM {line} l WHERE l.id = a_id AND l.key || '' = a_key;
    END IF;
    PERFORM {keep}(spot);
  END IF;

  IF mine.held THEN
    state := 'held';
    ticket := mine.ticket;
    RETURN;
  END IF;
  state := 'waits';
  SELECT count(*) INTO ahead FROM {line} l WHERE l.key = a_key AND l.ticket >= spot.first AND l.ticket < mine.ticket;
  retry_after := greatest(0, date_part('epoch', spot.lapses - moment) * 1000);
  IF NOT a_queue THEN
    PERFORM {release}(a_key, a_id);
  END IF;
END
$holdfast$;`;

export const commitNote: string = `-- Keeps a note for so many ms; without a text it is forgotten. Some of those whose time is over go, unless somebody is at them.
CREATE OR REPLACE PROCEDURE {commit_note}(a_name bytea, a_text text, ms float8)
LANGUAGE plpgsql AS $holdfast$
BEGIN
{prelude}
  IF a_text IS NULL THEN
    DELETE FROM {notes} WHERE name = a_name;
  ELSE
    DELETE FROM {notes} n USING (
      SELECT name FROM {notes} WHERE lapses <= clock_timestamp() AND name <> a_name LIMIT 100 FOR UPDATE SKIP LOCKED
    ) AS over WHERE n.name = over.name;
    INSERT INTO {notes} (name, text, lapses) VALUES (a_name, a_text, clock_timestamp() + ms * interval '1 ms')
      ON CONFLICT (name) DO UPDATE SET text = EXCLUDED.text, lapses = EXCLUDED.lapses;
  END IF;
  COMMIT;
END
$holdfast$;`;

export const commitWords: string = `-- What programs call about words, each in a transaction of its own: see commit.sql.

-- An attempt of a claim that words may answer; before it, where there is a \`gone\`, that claim is given up in the same step.
CREATE OR REPLACE PROCEDURE {commit_ask}(
  gone_key bytea, gone text,
  a_key bytea, a_id text, a_take int, a_room int, a_ttl float8, a_span int, a_label bytea,
  a_queue boolean, a_until float8, a_least bigint, a_channel text, a_grace float8,
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
    a_key, a_id, a_take, a_room, a_ttl, a_span, a_label, a_queue, a_until, a_least, a_channel, a_grace, a_age, a_mark, a_counts
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

-- Gives \`ticket,age,valid,words\`, each empty where no words are there, and behind it \`tries,mark,begun\`. Words and mark in hex.
CREATE OR REPLACE PROCEDURE {commit_look}(a_key bytea, INOUT answer text)
LANGUAGE plpgsql AS $holdfast$
BEGIN
{prelude}
  SELECT (found.*, coalesce(begun.tries, 0), encode(convert_to(coalesce(begun.mark, '-'), 'UTF8'), 'hex'), coalesce(begun.begun, 0))::text INTO answer
    FROM (SELECT) AS one
      LEFT JOIN {answer}(a_key, NULL) AS found ON true
      LEFT JOIN LATERAL (SELECT * FROM {words} w WHERE w.key = a_key ORDER BY w.era DESC LIMIT 1) AS begun
        ON begun.counts > clock_timestamp();
  COMMIT;
END
$holdfast$;

-- Gives 1 if words or tries were there.
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
$holdfast$;`;

export const commit: string = `-- What programs call: each does its work in a transaction of its own, and has committed it when it answers. In a transaction that
-- somebody has left open on the connection the server refuses the COMMIT (2D000), and the work is undone: nobody is told of a
-- grant that a rollback could still take away.
-- The work is done at READ COMMITTED, whatever the default: an older snapshot would only have to be refused.
--   quiet   those who are admitted are told nothing: for when the queue of messages is full, and no transaction with a message can commit
-- It is on disk when the answer comes, even where the server's default is not to wait for that.
CREATE OR REPLACE PROCEDURE {commit_attempt}(
  a_key bytea, a_id text, a_take int, a_room int, a_ttl float8, a_span int, a_label bytea,
  a_queue boolean, a_until float8, a_least bigint, a_channel text, a_grace float8,
  quiet boolean, INOUT answer text
) LANGUAGE plpgsql AS $holdfast$
BEGIN
{prelude}
  PERFORM set_config('holdfast.quiet', 'on', true) WHERE quiet;
  answer := {attempt}(a_key, a_id, a_take, a_room, a_ttl, a_span, a_label, a_queue, a_until, a_least, a_channel, a_grace)::text;
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
  next_key bytea, next_id text, next_take int, next_room int, next_ttl float8, next_span int, next_label bytea,
  next_queue boolean, next_until float8, next_least bigint, next_channel text, next_grace float8,
  quiet boolean, INOUT answer text
) LANGUAGE plpgsql AS $holdfast$
BEGIN
{prelude}
  PERFORM set_config('holdfast.quiet', 'on', true) WHERE quiet;
  answer := {exchange}(
    a_key, a_id, next_key, next_id, next_take, next_room, next_ttl, next_span, next_label,
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

-- Forced release of the claim with a ticket. Gives 1 if it was there and had not lapsed.
CREATE OR REPLACE PROCEDURE {commit_evict}(a_key bytea, a_ticket bigint, quiet boolean, INOUT answer text)
LANGUAGE plpgsql AS $holdfast$
BEGIN
{prelude}
  PERFORM set_config('holdfast.quiet', 'on', true) WHERE quiet;
  answer := coalesce((
    SELECT {release}(a_key, id)::int FROM (
      SELECT id FROM {line} WHERE key = a_key AND ticket = a_ticket
      UNION ALL
      SELECT id FROM {keys} WHERE key = a_key AND ticket = a_ticket AND id IS NOT NULL
    ) AS found LIMIT 1
  ), 0);
  COMMIT;
END
$holdfast$;

-- Gives \`removed,next\`.
CREATE OR REPLACE PROCEDURE {commit_sweep}(every float8, idle float8, page bigint, quiet boolean, INOUT answer text)
LANGUAGE plpgsql AS $holdfast$
BEGIN
{prelude}
  PERFORM set_config('holdfast.quiet', 'on', true) WHERE quiet;
  answer := (SELECT removed || ',' || coalesce(next::text, '') FROM {sweep_pages}(every, idle, page));
  COMMIT;
END
$holdfast$;`;

export const facts: string = `-- What endangers locks on this server, as facts; check.ts judges them. Numbers are text, for pg misreads them where its pool is \`binary\`.
SELECT current_setting('server_version_num') AS version, pg_is_in_recovery()::int AS replica,
       current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
       current_setting('synchronous_commit') AS synchronous_commit,
       current_setting('synchronous_standby_names') AS standbys,
       current_setting('default_transaction_isolation') AS isolation,
       (SELECT setting FROM pg_settings WHERE name = 'statement_timeout') AS statement_timeout,
       version() AS product,
       -- Asking also frees what nobody needs any more.
       pg_notification_queue_usage()::text AS queue,
       (SELECT count(*)::text FROM pg_stat_replication WHERE coalesce(sync_state, 'async') = 'async') AS replicas,
       (SELECT string_agg(application_name, ', ' ORDER BY application_name) FROM pg_stat_replication WHERE sync_state = 'async')
         AS replica_names,
       (SELECT coalesce(extract(epoch FROM max(clock_timestamp() - xact_start)), 0)::text
          FROM pg_stat_activity WHERE datname = current_database()) AS oldest_transaction`;

export const functions: string = `-- What is installed, to be compared with what should be.
SELECT proname AS name, md5(prosrc) AS digest FROM pg_proc
WHERE pronamespace = to_regnamespace('{schema}') AND '"' || proname || '"' IN ({functions})`;

export const inspect: string = `-- Everyone in line for a range of keys, by the rule itself: held follows from order and seats.
--   $1, $2  the keys from the first up to, but not including, the second: bytes
-- Gives key and label (hex), held (0 or 1), and as text position (from 0), ticket, take, room, since (ms), remaining (ms): pg misreads
-- numbers where its pool is \`binary\`. In the order of keys and line (\`ticket\` alone would be that text, in which 10 comes before 9).
SELECT encode(standing.key, 'hex') AS key, encode(label, 'hex') AS label,
       (bool_and(total <= smallest) OVER (PARTITION BY standing.key ORDER BY ticket))::int AS held, position::text,
       ticket::text, take::text, room::text, since::text, remaining::text
FROM (
  SELECT key, ticket, take, room, label,
         sum(take) OVER line AS total, min(room) OVER line AS smallest, row_number() OVER line - 1 AS position,
         (date_part('epoch', clock_timestamp() - joined) * 1000) AS since,
         (date_part('epoch', lapses - clock_timestamp()) * 1000) AS remaining
  FROM (
    SELECT key, ticket, take, room, label, joined, lapses FROM {line}
    UNION ALL
    SELECT key, ticket, taken, room, label, joined, lapses FROM {keys} WHERE id IS NOT NULL
  ) AS everyone
  WHERE key >= $1::bytea AND key < $2::bytea AND lapses > clock_timestamp()
  WINDOW line AS (PARTITION BY key ORDER BY ticket)
) AS standing
ORDER BY standing.key, standing.ticket`;

export const installed: string = `-- Revisions of the functions that are there: of those without a mark, 1. Null: none is there.
SELECT min(coalesce(substring(prosrc FROM '-- holdfast revision ([0-9]+)')::int, 1)) FROM pg_proc
  WHERE pronamespace = to_regnamespace('{schema}') AND '"' || proname || '"' IN ({functions})`;

export const leave: string = `-- Gives up a claim as {release} does. If it is a hold that has not lapsed, it leaves words in the same step: they end the tries, and
-- each process that waits in the line is told that there are some, but not which.
--   key, id  of the claim
--   ms       how long the words stay
--   fresh    for so long they have no age yet, ms
-- Gives \`freed\`, as {release} does, and whether the words were left.
CREATE OR REPLACE FUNCTION {leave}(a_key bytea, a_id text, a_text bytea, ms float8, fresh float8, OUT freed boolean, OUT kept boolean)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $holdfast$
DECLARE
  spot {keys} := {spot}(a_key, false);
  moment timestamptz := clock_timestamp();
  mine bigint;
BEGIN
  IF spot.id = a_id THEN
    mine := CASE WHEN spot.lapses > moment THEN spot.ticket END;
  ELSE
    SELECT l.ticket INTO mine FROM {line} l WHERE l.id = a_id AND l.key || '' = a_key AND l.held AND l.lapses > moment;
  END IF;
  kept := mine IS NOT NULL;
  IF kept THEN
    UPDATE {words} w
      SET tries = 0, begun = NULL, mark = NULL, counts = '-infinity',
          ticket = mine, since = moment + fresh * interval '1 ms', until = moment + ms * interval '1 ms', text = a_text,
          steps = w.steps + 1, era = (w.steps + 1) / 64
      WHERE w.key = a_key AND w.era >= (SELECT newest.era FROM {words} newest WHERE newest.key = a_key ORDER BY newest.era DESC LIMIT 1);
    IF NOT FOUND THEN
      INSERT INTO {words} (key, ticket, since, until, text) VALUES (
        a_key, mine, moment + fresh * interval '1 ms', moment + ms * interval '1 ms', a_text);
    END IF;
    -- The key in hex, which no other message looks like: a program that does not know it ignores it.
    IF spot.waits > 0 AND current_setting('holdfast.quiet', true) IS DISTINCT FROM 'on' THEN
      PERFORM pg_notify(waiting.channel, encode(a_key, 'hex')) FROM (
        SELECT DISTINCT l.channel FROM {line} l WHERE l.key = a_key AND l.ticket >= spot.first AND NOT l.held AND l.channel IS NOT NULL
      ) AS waiting;
    END IF;
  END IF;
  freed := {release}(a_key, a_id);
END
$holdfast$;`;

export const noteRead: string = `-- $1 name. Gives its text, if there is one whose time is not over. The lock is for a server that was the primary: it does not know
-- what was written since, and refuses to lock.
SELECT text FROM {notes} WHERE name = $1 AND lapses > clock_timestamp() FOR KEY SHARE`;

export const notes: string = `-- Words that processes leave for each other beside the locks: advice, which may be gone. Made by setup(), or when the first
-- note is kept.
CREATE TABLE IF NOT EXISTS {notes} (
  name   bytea PRIMARY KEY,
  text   text NOT NULL,
  lapses timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS {=notes_over} ON {notes} (lapses);`;

export const prelude: string = `  IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
    COMMIT;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  END IF;
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;`;

export const release: string = `-- Gives up a hold or a place, and admits whom the rule then admits.
--   key, id   of the claim
-- Gives whether there was a hold or place that had not lapsed.
CREATE OR REPLACE FUNCTION {release}(a_key bytea, a_id text) RETURNS boolean
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $holdfast$
DECLARE
  spot {keys};
  moment timestamptz;
  gone {line};
BEGIN
  -- Most are alone.
  UPDATE {keys} k SET taken = 0, room = {seats}, id = NULL, steps = k.steps + 1, era = (k.steps + 1) / 64
    WHERE k.key = a_key AND k.era >= (SELECT newest.era FROM {keys} newest WHERE newest.key = a_key ORDER BY newest.era DESC LIMIT 1)
      AND k.id = a_id
    RETURNING k.lapses INTO moment;
  IF FOUND THEN
    RETURN moment > clock_timestamp();
  END IF;

  -- The key's row first, here as everywhere: two orders would be a deadlock.
  spot := {spot}(a_key, false);
  IF spot.key IS NULL THEN
    RETURN false;
  END IF;
  IF spot.id = a_id THEN
    -- Alone since just now: the attempt was committed while this waited for the row.
    spot.taken := 0;
    spot.room := {seats};
    spot.id := NULL;
    PERFORM {keep}(spot);
    RETURN spot.lapses > clock_timestamp();
  END IF;
  -- \`|| ''\` leaves the planner no index but the one for this.
  DELETE FROM {line} WHERE id = a_id AND key || '' = a_key RETURNING * INTO gone;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  moment := clock_timestamp();
  IF gone.held THEN
    spot.taken := spot.taken - gone.take;
  ELSE
    spot.waits := spot.waits - 1;
  END IF;
  IF spot.taken = 0 THEN
    spot.room := {seats};
  END IF;
  IF spot.waits > 0 THEN
    spot := {admit}(spot, moment, NULL);
  END IF;
  PERFORM {keep}(spot);
  RETURN gone.lapses > moment;
END
$holdfast$;

-- Gives up one claim and attempts the next of the same process in its place, in one step.
--   key, id   of the claim given up
--   next_*    as for {attempt}
-- Gives \`freed\`, as {release} does, and what {attempt} gives.
CREATE OR REPLACE FUNCTION {exchange}(
  a_key bytea, a_id text,
  next_key bytea, next_id text, next_take int, next_room int, next_ttl float8, next_span int, next_label bytea,
  next_queue boolean, next_until float8, next_least bigint, next_channel text, next_grace float8,
  OUT freed boolean, OUT state text, OUT ticket bigint, OUT ahead int, OUT retry_after float8, OUT server_time float8
) LANGUAGE plpgsql AS $holdfast$
BEGIN
  freed := {release}(a_key, a_id);
  SELECT * INTO state, ticket, ahead, retry_after, server_time FROM {attempt}(
    next_key, next_id, next_take, next_room, next_ttl, next_span, next_label,
    next_queue, next_until, next_least, next_channel, next_grace);
END
$holdfast$;`;

export const renew: string = `-- Renews many holds at once. In this order: one who is alone may be moved to the line meanwhile, but never back.
--   asked   [{ "key": hex, "id", "ttl": ms }, ...]
-- Gives the position (from 1) of each that was still good.
CREATE OR REPLACE FUNCTION {renew}(asked json) RETURNS SETOF int
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $holdfast$
BEGIN
  RETURN QUERY
    UPDATE {keys} k
      SET ttl = r.ttl, lapses = clock_timestamp() + r.ttl * interval '1 ms', steps = k.steps + 1, era = (k.steps + 1) / 64
      FROM ROWS FROM (json_to_recordset(asked) AS (key text, id text, ttl float8)) WITH ORDINALITY AS r(key, id, ttl, n),
        LATERAL (SELECT e.era FROM {keys} e WHERE e.key = decode(r.key, 'hex') ORDER BY e.era DESC LIMIT 1) AS newest
      WHERE k.key = decode(r.key, 'hex') AND k.era >= newest.era AND k.id = r.id AND k.lapses > clock_timestamp()
      RETURNING r.n::int;

  -- Takes no key's lock: it changes nobody's place, and a lapse is looked at again once locked.
  RETURN QUERY
    WITH renewed AS (
      UPDATE {line} l SET ttl = r.ttl, lapses = clock_timestamp() + r.ttl * interval '1 ms'
        FROM ROWS FROM (json_to_recordset(asked) AS (key text, id text, ttl float8)) WITH ORDINALITY AS r(key, id, ttl, n)
        WHERE l.id = r.id AND l.key || '' = decode(r.key, 'hex') AND l.held AND l.lapses > clock_timestamp()
        RETURNING r.n, l.key, l.lapses
    ), sooner AS (
      -- Only a lease that was made shorter can lapse before what the key's row says.
      UPDATE {keys} k SET lapses = renewed.lapses, steps = k.steps + 1, era = (k.steps + 1) / 64
        FROM renewed, LATERAL (SELECT e.era FROM {keys} e WHERE e.key = renewed.key ORDER BY e.era DESC LIMIT 1) AS newest
        WHERE k.key = renewed.key AND k.era >= newest.era AND k.lapses > renewed.lapses
    )
    SELECT renewed.n::int FROM renewed;
END
$holdfast$;`;

export const rights: string = `-- What is missing for this role to lock: names of objects, or of objects and the right to them.
WITH needed (object, rights) AS (
  VALUES ('{meta}', 'SELECT'), ('{meta}', 'UPDATE'),
         ('{keys}', 'SELECT'), ('{keys}', 'INSERT'), ('{keys}', 'UPDATE'), ('{keys}', 'DELETE'),
         ('{line}', 'SELECT'), ('{line}', 'INSERT'), ('{line}', 'UPDATE'), ('{line}', 'DELETE')
)
SELECT CASE WHEN to_regclass(object) IS NULL THEN object ELSE rights || ' on ' || object END AS missing
FROM needed
WHERE to_regclass(object) IS NULL OR NOT has_table_privilege(to_regclass(object), rights)
UNION ALL
SELECT CASE WHEN to_regclass('{tickets}') IS NULL THEN '{tickets}' ELSE 'USAGE and SELECT on {tickets}' END
WHERE to_regclass('{tickets}') IS NULL
   OR NOT (has_sequence_privilege(to_regclass('{tickets}'), 'USAGE') AND has_sequence_privilege(to_regclass('{tickets}'), 'SELECT'))
UNION ALL
-- Which everybody has, unless the default was changed.
SELECT 'EXECUTE on ' || oid::regprocedure FROM pg_proc
WHERE pronamespace = to_regnamespace('{schema}') AND NOT has_function_privilege(oid, 'EXECUTE') AND '"' || proname || '"' IN ({functions})`;

export const settle: string = `-- Removes everyone in the key's line who has lapsed, counts the rest anew, and admits whom the rule now admits.
-- Linear in the line, so it runs only when the earliest lapse that is known has come.
--   spot, moment, asking   as for {admit}
-- Gives the key's row as it is to be written.
CREATE OR REPLACE FUNCTION {settle}(spot {keys}, moment timestamptz, asking text) RETURNS {keys}
LANGUAGE plpgsql AS $holdfast$
BEGIN
  -- Nobody has: the row was found by a time from before the clock was set back.
  IF spot.lapses > moment THEN
    RETURN spot;
  END IF;
  DELETE FROM {line} WHERE key = spot.key AND ticket >= spot.first AND lapses <= moment;
  spot.id := NULL; -- whoever was alone, it was they who lapsed
  SELECT coalesce(sum(take) FILTER (WHERE held), 0), count(*) FILTER (WHERE NOT held),
         coalesce(min(room) FILTER (WHERE held), {seats}), coalesce(min(lapses), spot.lapses)
    INTO spot.taken, spot.waits, spot.room, spot.lapses
    FROM {line} WHERE key = spot.key AND ticket >= spot.first;
  RETURN {admit}(spot, moment, asking);
END
$holdfast$;`;

export const spot: string = `-- Locks the row of a key and gives it as it is now; a row of nulls where there is none.
--   make   makes it where there is none
-- The newest era first: see tables.sql. No index keeps a key from having two rows, so whoever makes one holds a lock on the key's
-- name, and looks again under it.
CREATE OR REPLACE FUNCTION {spot}(a_key bytea, make boolean) RETURNS {keys}
LANGUAGE plpgsql AS $holdfast$
DECLARE
  spot {keys};
BEGIN
  SELECT * INTO spot FROM {keys} WHERE key = a_key ORDER BY era DESC LIMIT 1 FOR NO KEY UPDATE;
  IF FOUND THEN
    RETURN spot;
  END IF;
  -- An older snapshot would not see the row that another has just made.
  IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
    RAISE serialization_failure USING MESSAGE = 'holdfast: a key cannot be made above READ COMMITTED',
      HINT = 'Call the procedures, as the newest version of holdfast does.';
  END IF;
  -- Also where none is to be made: an attempt of this very claim may be making it, and not have committed.
  PERFORM pg_advisory_xact_lock(hashtextextended('{keys} ' || encode(a_key, 'hex'), 0));
  SELECT * INTO spot FROM {keys} WHERE key = a_key ORDER BY era DESC LIMIT 1 FOR NO KEY UPDATE;
  IF NOT FOUND AND make THEN
    INSERT INTO {keys} (key, last, room, lapses) VALUES (a_key, 0, {seats}, clock_timestamp()) RETURNING * INTO spot;
  END IF;
  RETURN spot;
END
$holdfast$;

-- Writes back the row of a key that the caller has locked.
CREATE OR REPLACE FUNCTION {keep}(spot {keys}) RETURNS void
LANGUAGE plpgsql AS $holdfast$
BEGIN
  UPDATE {keys}
    SET last = spot.last, taken = spot.taken, waits = spot.waits, room = spot.room, lapses = spot.lapses, id = spot.id,
        first = spot.first, head = spot.head, steps = spot.steps + 1, era = (spot.steps + 1) / 64
    WHERE key = spot.key AND era = spot.era;
END
$holdfast$;`;

export const state: string = `-- Whether this is set up for us, and what time it is there; as text, for pg misreads numbers where its pool is \`binary\`.
SELECT format, ({installed}) AS revision,
       current_setting('server_version_num') AS version, version() AS product,
       (extract(epoch FROM clock_timestamp()) * 1000)::text AS server_time
FROM {meta}`;

export const sweep: string = `-- Removes what nobody asks about any more, from 64 pages of the table of keys and as many of the table of words: lapsed claims, keys
-- that are not in use, and words that are over. What one call does is bounded by the pages, also where they are full of rows that are dead but cannot be removed yet.
--   every   ms that must have passed since the last sweep of any process, for a sweep to begin
--   idle    ms that a key must have been out of use
--   page    where to go on; 0 begins
-- Gives how many keys were removed, and where to go on: null when this was the end, or it is not time to begin.
CREATE OR REPLACE FUNCTION {sweep_pages}(every float8, idle float8, page bigint, OUT removed bigint, OUT next bigint)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $holdfast$
DECLARE
  moment timestamptz := clock_timestamp();
  pages bigint := greatest(pg_relation_size('{keys}'), pg_relation_size('{words}')) / current_setting('block_size')::int;
  low tid := format('(%s,0)', page);
  high tid;
  spot {keys};
BEGIN
  removed := 0;
  IF page = 0 THEN
    -- One that is still to come: the clock was set back since.
    PERFORM FROM {meta}
      WHERE swept <= moment - every * interval '1 ms' OR swept > moment + interval '1 s' FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      RETURN;
    END IF;
    UPDATE {meta} SET swept = moment;
  ELSE
    -- So that nobody else begins.
    UPDATE {meta} SET swept = moment WHERE swept < moment - least(every, 1000) / 2 * interval '1 ms';
  END IF;
  next := page + 64;
  -- Before version 14 such a range is found by reading the whole table, so there it is one range.
  IF next >= pages OR current_setting('server_version_num')::int < 140000 THEN
    next := NULL;
  END IF;
  high := format('(%s,0)', coalesce(next, 4294967295));
  FOR spot IN
    SELECT * FROM {keys} k
      WHERE k.ctid >= low AND k.ctid < high AND k.lapses <= moment
        AND (k.id IS NOT NULL OR EXISTS (SELECT FROM {line} l WHERE l.key = k.key AND l.ticket >= k.first))
      FOR NO KEY UPDATE SKIP LOCKED
  LOOP
    PERFORM {keep}({settle}(spot, clock_timestamp(), NULL));
  END LOOP;
  -- A key that comes back starts from the sequence, so only rows that the sequence has overtaken may go.
  WITH unused AS (
    SELECT key, era FROM {keys} k
      WHERE k.ctid >= low AND k.ctid < high
        AND k.lapses <= moment - idle * interval '1 ms' AND k.last < (SELECT last_value FROM {tickets})
        AND k.id IS NULL AND NOT EXISTS (SELECT FROM {line} l WHERE l.key = k.key AND l.ticket >= k.first)
      FOR UPDATE SKIP LOCKED
  )
  DELETE FROM {keys} k USING unused WHERE k.key = unused.key AND k.era = unused.era;
  GET DIAGNOSTICS removed = ROW_COUNT;
  -- A role that was given its rights before there were words goes on without.
  IF has_table_privilege('{words}', 'DELETE') THEN
    WITH over AS (
      SELECT key, era FROM {words} w
        WHERE w.ctid >= low AND w.ctid < high AND w.counts <= moment AND w.until <= moment
        FOR UPDATE SKIP LOCKED
    )
    DELETE FROM {words} w USING over WHERE w.key = over.key AND w.era = over.era;
  END IF;
END
$holdfast$;

-- As programs of the first revision call it: a part of the table, anywhere.
CREATE OR REPLACE FUNCTION {sweep}(every float8, idle float8) RETURNS bigint
LANGUAGE plpgsql AS $holdfast$
DECLARE
  pages bigint := pg_relation_size('{keys}') / current_setting('block_size')::int;
BEGIN
  PERFORM FROM {meta} WHERE swept <= clock_timestamp() - every * interval '1 ms';
  RETURN CASE WHEN FOUND THEN (SELECT removed FROM {sweep_pages}(every, idle, floor(random() * pages / 64)::bigint * 64)) ELSE 0 END;
END
$holdfast$;`;

export const tables: string = `-- What is stored. Run once per schema and prefix, by a role that may create there; safe to run again and by many at once.
-- {names} are replaced by quoted, schema-qualified identifiers, {=names} by quoted bare ones.
CREATE TABLE IF NOT EXISTS {meta} (
  format int NOT NULL,                -- of everything here; a program that does not know it must not touch it
  swept  timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO {meta} (format) SELECT 1 WHERE NOT EXISTS (SELECT FROM {meta});

-- Where the tickets of a key nobody remembers begin: above every ticket that a swept row can have had. Never cycles.
CREATE SEQUENCE IF NOT EXISTS {tickets};

-- One row per key in use. Its row lock puts everything that happens to the key in order. A holder who met nobody is in here
-- alone, so that to take and to free a key is one update each; whoever joins first moves it to the line.
-- The row is looked for from its newest era down (ORDER BY era DESC): while some snapshot is held open, no dead version of it
-- can be removed, and a search by the key alone would pass over all of them.
CREATE TABLE IF NOT EXISTS {keys} (
  key    bytea NOT NULL,
  last   bigint NOT NULL,             -- highest ticket given out or reserved
  taken  bigint NOT NULL DEFAULT 0,   -- seats of all who hold; 0: the line is empty
  waits  int NOT NULL DEFAULT 0,      -- how many stand in line and do not hold
  room   int NOT NULL,                -- at most the smallest room named by a holder; exact when somebody waits for it
  lapses timestamptz NOT NULL,        -- nobody in line lapses before; the one who is alone, then
  id     text,                        -- of the one who is alone, whose take and room are those above; null: nobody is
  ticket bigint,                      -- of the same, as are the rest
  ttl    float8,
  joined timestamptz,
  label  bytea,
  first  bigint NOT NULL DEFAULT 0,   -- nobody in line has a lower ticket
  head   bigint NOT NULL DEFAULT 0,   -- nobody who waits has a lower ticket, nobody who holds has this or a higher one
  steps  bigint NOT NULL DEFAULT 0,   -- how often the row was written
  era    bigint NOT NULL DEFAULT 0,   -- steps / 64
  PRIMARY KEY (key, era)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- The line of all others. Who holds is marked in the transaction that admits them, so that exactly the newly admitted are told.
-- Each index serves one kind of search only, so that no plan can take the wrong one.
CREATE TABLE IF NOT EXISTS {line} (
  key     bytea NOT NULL,
  id      text NOT NULL,
  ticket  bigint NOT NULL,
  take    int NOT NULL,
  room    int NOT NULL,
  ttl     float8 NOT NULL,            -- ms
  held    boolean NOT NULL,
  lapses  timestamptz NOT NULL,
  joined  timestamptz NOT NULL,
  channel text,                       -- where its process listens
  label   bytea NOT NULL,
  PRIMARY KEY (key, ticket)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);`;

export const upgrade: string = `-- Brings tables that an older revision made to what tables.sql says, in the same transaction as the functions that need it.
DO $upgrade$
BEGIN
  IF to_regclass('{line_claims}') IS NULL THEN
    -- In the order in which every step takes them, or a step and this would wait for each other.
    LOCK TABLE {keys}, {line} IN ACCESS EXCLUSIVE MODE;
    CREATE INDEX {=line_claims} ON {line} (id);
  END IF;
  IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('{keys}') AND attname = 'era') THEN
    RETURN;
  END IF;
  ALTER TABLE {keys}
    ADD COLUMN first bigint NOT NULL DEFAULT 0, ADD COLUMN head bigint NOT NULL DEFAULT 0,
    ADD COLUMN steps bigint NOT NULL DEFAULT 0, ADD COLUMN era bigint NOT NULL DEFAULT 0,
    DROP CONSTRAINT {=keys_pkey}, ADD PRIMARY KEY (key, era);
  ALTER TABLE {line} DROP CONSTRAINT {=line_pkey}, ADD PRIMARY KEY (key, ticket);
  DROP INDEX IF EXISTS {line_waiting};
END
$upgrade$;`;

export const wordsKeys: string = `-- The keys under which words or tries are left.
--   $1, $2  the keys from the first up to, but not including, the second: bytes
-- Gives key (hex).
SELECT DISTINCT encode(key, 'hex') AS key FROM {words}
WHERE key >= $1::bytea AND key < $2::bytea AND greatest(counts, until) > clock_timestamp()`;

export const words: string = `-- What holds left under their keys, and how often holds have begun since: a row for a key of which a claim said so, or none. Apart from
-- the keys, so that words of any length cost a lock nothing. Written under the lock of the key's row, but for \`forget\` and the sweep,
-- which remove. The newest era first, as in tables.sql.
CREATE TABLE IF NOT EXISTS {words} (
  key    bytea NOT NULL,
  tries  int NOT NULL DEFAULT 0,      -- holds begun since words were left last, of claims that count
  begun  bigint,                      -- the ticket of the last of these
  mark   text,                        -- and its mark
  counts timestamptz NOT NULL DEFAULT '-infinity', -- until when these three count
  ticket bigint,                      -- of the hold that left the words; null: none were left
  since  timestamptz,                 -- from when on they have an age: when it left them, or later
  until  timestamptz NOT NULL DEFAULT '-infinity', -- when they are over
  text   bytea,                       -- bytes, for a text of PostgreSQL cannot hold every character
  steps  bigint NOT NULL DEFAULT 0,   -- how often the row was written
  era    bigint NOT NULL DEFAULT 0,   -- steps / 64
  PRIMARY KEY (key, era)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);`;
