// Generated from sql/*.sql by scripts/build-sql.mjs: edit there.

export const closed: string = `-- Whether the server takes no writes. MariaDB 12 has words for more ways to be read-only.
(@@global.read_only NOT IN ('OFF', '0') OR @@global.innodb_read_only)`;

export const create: string = `-- The row of a key that was never used, or was swept. Its tickets start from the floor. The shared lock keeps the floor
-- where it is until the row is there: a plain read could be older than a sweep that takes the same key away.
-- Not INSERT IGNORE: over the remains of a row that was just swept it takes a shared lock and then wants an exclusive one,
-- which is a deadlock with whoever waits in between. This takes the exclusive one from the start
-- (https://dev.mysql.com/doc/refman/8.0/en/innodb-locks-set.html).
-- :name
INSERT INTO {table} (name, ticket, used, line)
SELECT :name, own.ticket, {latest}, '' FROM {table} AS own WHERE own.name = '' LOCK IN SHARE MODE
ON DUPLICATE KEY UPDATE used = VALUES(used)`;

export const earliest: string = `-- The server's time when this is evaluated, or earlier: what has lapsed by then has lapsed. µs since 1970.
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
)`;

export const exchange: string = `-- Gives up a hold that has not lapsed, and in the same step takes a place for another claim at the end of the line.
-- :gone (\`@id \` of the hold), the rest as in join.sql
-- Result: no row changed: nothing to give up, no room, or too late.
--         insertId: the ticket, if nobody else stands in the line; else 0, and the line has to be read.
UPDATE {table}
SET line = CONCAT(
      SUBSTRING_INDEX(line, :gone, 1),
      SUBSTRING(line, LOCATE(';', line, INSTR(line, :gone)) + 1),
      :mark, {latest} + CAST(:ttl AS SIGNED), ' ', GREATEST(ticket + 1, CAST(:atLeast AS UNSIGNED)),
      :seats, {latest}, :tail
    ),
    ticket = GREATEST(ticket + 1, CAST(:atLeast AS UNSIGNED)) + CAST(:span AS UNSIGNED) - 1,
    used = {latest}
WHERE name = :name
  AND INSTR(line, :gone) > 0
  AND INSTR(line, :mark) = 0
  AND SUBSTRING(line, INSTR(line, :gone) + LENGTH(:gone), 16) > CAST({earliest} AS CHAR)
  AND {latest} <= CAST(:notAfter AS SIGNED)
  AND {room}
  AND LAST_INSERT_ID(
    IF(INSTR(line, :gone) = 1 AND LOCATE(';', line) = LENGTH(line), GREATEST(ticket + 1, CAST(:atLeast AS UNSIGNED)), 0)
  ) >= 0`;

export const floor: string = `-- Raises the floor that new rows start from, before rows with lower tickets go: tickets of a key never go back.
-- :ticket
UPDATE {table} SET ticket = GREATEST(ticket, CAST(:ticket AS UNSIGNED)) WHERE name = ''`;

export const found: string = `-- Writes the table's own row. IGNORE: another process may have been first.
-- :format  the format of the table
INSERT IGNORE INTO {table} (name, ticket, used, line) VALUES ('', 0, {latest}, :format)`;

export const getLock: string = `-- Takes the named lock of a key in this session. Names are of the whole server, of 64 characters at most, and on some
-- servers without case: hence a hash, in lower case, with the database mixed in.
-- :database (of the table, or empty: the session's), :name (prefix/key), :wait (s)
-- :notAfter  the server's time after which it is too late
-- Result: got: 1 yes, 0 no, -1 too late, NULL an error. now.
SELECT IF({latest} > CAST(:notAfter AS SIGNED), -1, GET_LOCK({hash}, CAST(:wait AS SIGNED))) AS got, {earliest} AS now`;

export const greet: string = `-- Before the first step: which table is this, and what time is it?
-- Result: format, now, open. No row: the table was made, but not founded.
SELECT line AS format, {earliest} AS now, {open} AS open FROM {table} WHERE name = ''`;

export const hash: string = `-- The name of the lock of a key. HEX, since the names of databases and keys have different character sets.
SHA2(CONCAT(HEX(COALESCE(NULLIF(:database, ''), DATABASE(), '')), '/', HEX(:name)), 256)`;

export const idle: string = `-- Keys of a page that nobody has used for :idle µs. A line that is not empty then is one of the dead, or of a hold with a long ttl.
-- :after, :last (where the page ends), :idle
SELECT name, ticket, line, {earliest} AS now FROM {table}
WHERE name > :after AND name <= :last AND used <= {earliest} - CAST(:idle AS SIGNED)`;

export const join: string = `-- Takes a place at the end of the line, if the line is :expected or, when the claim queues, whatever the line is.
--
-- A place is the text \`@id until ticket take of ttl joined bell label;\`. until, always of 16 digits, is when it lapses as a
-- hold. Who holds is not stored: it follows from the order and the seats (src/core/contract/admission.ts).
--
-- :name, :mark (\`@id \`), :expected, :queue (0 or 1), :atLeast (lowest ticket), :span (tickets to reserve)
-- :ttl (µs), :seats (\` take of ttl \`), :tail (\` bell label;\`), :notAfter (the server's time after which it is too late)
-- Result: no row changed: too late, no such row, there already, no room, or the line is another and the claim does not queue.
--         insertId: the ticket, if the line was :expected; else 0, and the line has to be read.
UPDATE {table}
SET line = CONCAT(
      line, :mark, {latest} + CAST(:ttl AS SIGNED), ' ', GREATEST(ticket + 1, CAST(:atLeast AS UNSIGNED)),
      :seats, {latest}, :tail
    ),
    ticket = GREATEST(ticket + 1, CAST(:atLeast AS UNSIGNED)) + CAST(:span AS UNSIGNED) - 1,
    used = {latest}
WHERE name = :name
  AND (line = :expected OR (CAST(:queue AS UNSIGNED) = 1 AND INSTR(line, :mark) = 0))
  AND {latest} <= CAST(:notAfter AS SIGNED)
  AND {room}
  AND LAST_INSERT_ID(IF(line = :expected, GREATEST(ticket + 1, CAST(:atLeast AS UNSIGNED)), 0)) >= 0`;

export const killOwner: string = `-- Ends a session if it has the named lock of a key. Its number alone does not tell: on a server that was started again, or has
-- taken over, it is somebody else's. MySQL takes no parameters in a KILL, so the values stand in the text.
-- :database, :name as in get-lock.sql; {session}
KILL IF(IS_USED_LOCK({hash}) = {session}, {session}, 0)`;

export const latest: string = `-- The server's time when this is evaluated, or later: a lease that counts from then is not too short. µs since 1970.
-- As earliest.sql, but when the clock was set back since the start of the statement, or summer time ended, this is the start.
(
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
  + MOD(GREATEST(TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6)), 0), 900000000)
)`;

export const leave: string = `-- Gives up a hold or a place.
-- :name, :mark (\`@id \`)
-- Result: no row changed: there was none.
--         insertId: 1 if it had not lapsed as a hold, plus 2 if others stand in the line.
UPDATE {table}
SET line = CONCAT(
      SUBSTRING_INDEX(line, :mark, 1),
      SUBSTRING(line, LOCATE(';', line, INSTR(line, :mark)) + 1)
    ),
    used = {latest}
WHERE name = :name
  AND INSTR(line, :mark) > 0
  AND LAST_INSERT_ID(
    (SUBSTRING(line, INSTR(line, :mark) + LENGTH(:mark), 16) > CAST({earliest} AS CHAR))
    + 2 * (INSTR(line, :mark) > 1 OR LOCATE(';', line) < LENGTH(line))
  ) >= 0`;

export const list: string = `-- The lines that are not empty, of the names from :from up to, but not including, :to, a page at a time.
-- The table's own row comes first, as in read.sql.
-- :from, :to
SELECT name, line, {earliest} AS now, {open} AS open FROM {table}
WHERE name = '' OR (name >= :from AND name < :to AND line <> '')
ORDER BY name LIMIT 200`;

export const noteForget: string = `-- :name
DELETE FROM {notes} WHERE name = :name`;

export const noteKeep: string = `-- :name, :text, :ttl (µs)
INSERT INTO {notes} (name, text, lapses) VALUES (:name, :text, {latest} + CAST(:ttl AS SIGNED))
ON DUPLICATE KEY UPDATE text = VALUES(text), lapses = VALUES(lapses)`;

export const noteRead: string = `-- :name. One row: its text, NULL where there is none whose time is not over; and whether the server takes no writes, for one that was
-- the primary does not know what was written since.
SELECT note.text AS text, {closed} AS closed, {open} AS open
FROM (SELECT 1) AS one LEFT JOIN {notes} AS note ON note.name = :name AND note.lapses > {earliest}`;

export const noteSweep: string = `-- Some of those whose time is over.
DELETE FROM {notes} WHERE lapses <= {earliest} LIMIT 100`;

export const notes: string = `-- Words that processes leave for each other beside the locks: advice, which may be gone. Made with the first note.
CREATE TABLE IF NOT EXISTS {notes} (
  name VARBINARY(600) NOT NULL,
  text VARBINARY(1024) NOT NULL,
  lapses BIGINT NOT NULL,
  PRIMARY KEY (name),
  KEY lapses (lapses)
) ENGINE = InnoDB`;

export const open: string = `-- What is open on the session: 2 autocommit is off, 1 a transaction, 0 nothing. NULL on MySQL, which has no variable for it, and
-- takes the inside for a comment: there the answer to a statement without rows tells.
IF(@@autocommit, COALESCE(/*M! @@in_transaction, */ NULL), 2)`;

export const ownsLock: string = `-- Also keeps the session from being idle.
-- :database, :name as in get-lock.sql
-- Result: mine: 1 if this session has the lock.
SELECT IS_USED_LOCK({hash}) = CONNECTION_ID() AS mine`;

export const page: string = `-- Where the next page of keys ends: a sweep reads so many rows at a time, however few of them are idle.
-- :after (the last name of the page before)
-- Result: last: NULL after the last page.
SELECT MAX(name) AS last FROM (SELECT name FROM {table} WHERE name > :after ORDER BY name LIMIT 2000) AS page`;

export const pause: string = `-- Whether SYSDATE goes on during a statement.
SELECT IF(SLEEP(0.002) = 0, SYSDATE(6) > NOW(6), 0) AS moves`;

export const read: string = `-- The lines of some keys, and the server's time. No locks: a line that was read late shows a claim behind others that have
-- left, never before others that are still there. The table's own row comes, too: without a row nothing would tell of a
-- transaction that was left open, which sees the table as it was when that began.
-- {list}
SELECT name, line, {earliest} AS now, {open} AS open FROM {table} WHERE name IN ('', {list})`;

export const releaseLock: string = `-- :database, :name as in get-lock.sql
-- Result: freed: 1, 0 if it is another session's, NULL if it is nobody's.
SELECT RELEASE_LOCK({hash}) AS freed`;

export const room: string = `-- Whether the line has room for one more place, of 2,048 bytes at most. In a mode that is not strict, a CONCAT above
-- max_allowed_packet is no error but NULL, which empties the line, and a value above the column's size is cut off.
LENGTH(line) + 2048 <= LEAST(@@max_allowed_packet, 16777215)`;

export const server: string = `-- Which server a connection leads to, whatever is in between.
SELECT @@hostname AS host, @@port AS port, @@server_id AS id`;

export const settings: string = `-- What the server says about itself. SHOW, since a variable that one kind of server does not have is an error in a SELECT.
SHOW VARIABLES WHERE Variable_name IN (
  'version', 'read_only', 'super_read_only', 'wsrep_on', 'innodb_flush_log_at_trx_commit', 'log_bin', 'sync_binlog', 'binlog_format',
  'transaction_isolation', 'tx_isolation', 'wait_timeout', 'group_replication_group_name',
  'group_replication_single_primary_mode'
)`;

export const setup: string = `-- The table, made once by whoever comes first.
--
-- One row per key, kept when the key is free, so that lockers only ever update in place: designs that insert and delete
-- rows deadlock with each other. A statement changes one row and is its own transaction: nobody holds a row lock while
-- waiting for anything else.
--
-- name    prefix/key. The row with the empty name is the table's own: its ticket is the floor that new rows start from,
--         its line the format of the table, its used the time of the last sweep.
-- ticket  the highest ticket given or reserved
-- used    when the row was last written
-- line    everyone who holds or waits, in the order of their tickets, as text: see join.sql
--
-- Times are microseconds since 1970, in UTC, of the server.
CREATE TABLE IF NOT EXISTS {table} (
  name VARBINARY(600) NOT NULL,
  ticket BIGINT UNSIGNED NOT NULL,
  used BIGINT NOT NULL,
  line MEDIUMBLOB NOT NULL,
  PRIMARY KEY (name)
) ENGINE = InnoDB`;

export const shape: string = `-- What the table is made of, as far as the user may see it.
-- :database (or empty: the session's), :relation
SELECT ENGINE AS engine, COLUMN_NAME AS name, COLUMN_TYPE AS type, IS_NULLABLE AS nullable, COLUMN_KEY AS part
FROM information_schema.TABLES AS made JOIN information_schema.COLUMNS AS columns USING (TABLE_SCHEMA, TABLE_NAME)
WHERE TABLE_SCHEMA = COALESCE(NULLIF(CONVERT(:database USING utf8mb3), ''), DATABASE()) AND TABLE_NAME = CONVERT(:relation USING utf8mb3)`;

export const status: string = `-- What the server says about its replication. Any user may ask.
SHOW GLOBAL STATUS WHERE Variable_name IN (
  'Slave_running', 'Slaves_connected', 'Rpl_semi_sync_master_status', 'Rpl_semi_sync_source_status'
)`;

export const swap: string = `-- Puts another line in the place of the one that was read, unless it has changed meanwhile: how the dead are removed.
-- :name, :old, :new
UPDATE {table} SET line = :new, used = {latest} WHERE name = :name AND line = :old`;

export const sweep: string = `-- Takes away the rows of idle keys, unless they were used again since they were read.
-- {list}, :ticket (the floor they are under), :idle (µs)
DELETE FROM {table}
WHERE name IN ({list}) AND line = '' AND ticket <= CAST(:ticket AS UNSIGNED) AND used <= {earliest} - CAST(:idle AS SIGNED)`;

export const ticket: string = `-- The next ticket of a key whose named lock this session has.
-- :name, :atLeast
-- Result: insertId. No row changed: there is no row for the key yet.
UPDATE {table}
SET ticket = LAST_INSERT_ID(GREATEST(ticket + 1, CAST(:atLeast AS UNSIGNED))), used = {latest}
WHERE name = :name`;

export const touch: string = `-- A sign of life of many claims, at most one of each key: each lapses its ttl from now, and if :keeps is 1 no sooner than it
-- would have. What has lapsed stays so.
-- {list}  one row per claim: name, mark (\`@id \`), ttl (µs); in the order of the names, so that two of these statements
--         never wait for each other in a circle
-- :notAfter  the server's time after which it is too late
-- Result: how many rows were changed.
UPDATE ({list}) AS claims STRAIGHT_JOIN {table} AS kept ON kept.name = claims.name
SET kept.line = INSERT(
      kept.line, INSTR(kept.line, claims.mark) + LENGTH(claims.mark), 16, GREATEST(
        {latest} + CAST(claims.ttl AS SIGNED),
        CAST(:keeps AS SIGNED) * CAST(SUBSTRING(kept.line, INSTR(kept.line, claims.mark) + LENGTH(claims.mark), 16) AS SIGNED)
      )
    ),
    kept.used = {latest}
WHERE INSTR(kept.line, claims.mark) > 0
  AND SUBSTRING(kept.line, INSTR(kept.line, claims.mark) + LENGTH(claims.mark), 16) > CAST({earliest} AS CHAR)
  AND {latest} <= CAST(:notAfter AS SIGNED)`;

export const turn: string = `-- Whose turn it is to sweep: one row is changed for the one process that asks first in each interval. One that is still to come
-- means that the clock was set back since.
-- :interval (µs)
UPDATE {table} SET used = {latest}
WHERE name = '' AND (used <= {earliest} - CAST(:interval AS SIGNED) OR used > {latest} + 1000000)`;

export const wordsBegin: string = `-- Notes that a hold has begun, unless a later one has, or has left words. The ticket comes last: what is before it compares the old one.
-- :name, :ticket, :mark, :counts (µs from now)
-- Result: insertId: the tries, this one included.
INSERT INTO {words} (name, tries, begun, mark, counts, ticket, since, lapses, ends, text)
VALUES (
  :name, LAST_INSERT_ID(1), CAST(:ticket AS UNSIGNED), :mark, {latest} + CAST(:counts AS SIGNED), 0, 0, 0,
  {latest} + CAST(:counts AS SIGNED), ''
)
ON DUPLICATE KEY UPDATE
  tries = LAST_INSERT_ID(IF(GREATEST(begun, ticket) >= CAST(:ticket AS UNSIGNED), tries, IF(counts > {earliest}, tries, 0) + 1)),
  mark = IF(GREATEST(begun, ticket) >= CAST(:ticket AS UNSIGNED), mark, VALUES(mark)),
  counts = IF(GREATEST(begun, ticket) >= CAST(:ticket AS UNSIGNED), counts, VALUES(counts)),
  ends = IF(GREATEST(begun, ticket) >= CAST(:ticket AS UNSIGNED), ends, GREATEST(VALUES(counts), lapses)),
  begun = GREATEST(begun, VALUES(begun))`;

export const wordsForget: string = `-- :name
DELETE FROM {words} WHERE name = :name AND GREATEST(counts, lapses) > {earliest}`;

export const wordsKeys: string = `-- The keys under which words or tries are left, of the names from :from up to, but not including, :to, a page at a time.
-- :from, :to
SELECT name, {earliest} AS now, {open} AS open FROM {words}
WHERE name >= :from AND name < :to AND ends > {earliest}
ORDER BY name LIMIT 1000`;

export const wordsLeave: string = `-- Gives up an exclusive hold that has not lapsed, and leaves words in the same step, which end the tries. It is the first in its line.
-- The ticket is given, for the server does not say which of two tables it changes first.
-- :name, :mark (\`@id \`), :ticket (of the hold), :text, :ttl (µs), :fresh (µs for which the words have no age yet)
-- Result: no row changed: it does not hold, or the row of the words is missing.
UPDATE {table} AS kept JOIN {words} AS said ON said.name = kept.name
SET kept.line = SUBSTRING(kept.line, LOCATE(';', kept.line) + 1), kept.used = {latest},
    said.tries = 0, said.begun = 0, said.mark = '-', said.counts = 0,
    said.ticket = CAST(:ticket AS UNSIGNED), said.since = IF(:fresh > 0, {latest} + CAST(:fresh AS SIGNED), {earliest}), said.lapses = {latest} + CAST(:ttl AS SIGNED),
    said.ends = {latest} + CAST(:ttl AS SIGNED), said.text = :text
WHERE kept.name = :name
  AND INSTR(kept.line, :mark) = 1
  AND SUBSTRING(kept.line, LENGTH(:mark) + 1, 16) > CAST({earliest} AS CHAR)`;

export const wordsLook: string = `-- :name, :mark (\`@id \` of the claim that asks)
-- One row: what is under the key, NULL where nothing is; whether the claim stands in the line; the server's time; and whether the
-- server takes no writes, for one that was the primary does not know what was left since.
SELECT said.tries, said.begun, said.mark, said.counts, said.ticket, said.since, said.lapses, said.text,
  COALESCE(INSTR(kept.line, :mark), 0) > 0 AS stands, {earliest} AS now, {closed} AS closed, {open} AS open
FROM (SELECT 1) AS one
LEFT JOIN {words} AS said ON said.name = :name
LEFT JOIN {table} AS kept ON kept.name = :name`;

export const wordsRow: string = `-- The row of a key under which nothing was left so far. No sweep takes it for the minute in which it is filled.
-- :name
INSERT IGNORE INTO {words} (name, tries, begun, mark, counts, ticket, since, lapses, ends, text)
VALUES (:name, 0, 0, '-', 0, 0, 0, 0, {latest} + 60000000, '')`;

export const wordsSweep: string = `-- Some of those of which nothing counts any more. By the start of the statement: an index is of no use to a SYSDATE.
DELETE FROM {words} WHERE ends <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) LIMIT 256`;

export const words: string = `-- What holds left under their keys, and how often holds have begun since. Made with the first memo: see notes.sql. Times as in setup.sql.
--
-- tries, begun, mark, counts  holds begun since words were left last, of claims that count; the ticket and the mark of the last of
--                             these, and until when all this counts
-- ticket, since, lapses       of the words: the ticket of the hold that left them (0: none were left), from when on they have an age, when they are over
-- ends                        from when on nothing of the row counts
CREATE TABLE IF NOT EXISTS {words} (
  name VARBINARY(600) NOT NULL,
  tries INT UNSIGNED NOT NULL,
  begun BIGINT UNSIGNED NOT NULL,
  mark VARBINARY(64) NOT NULL,
  counts BIGINT NOT NULL,
  ticket BIGINT UNSIGNED NOT NULL,
  since BIGINT NOT NULL,
  lapses BIGINT NOT NULL,
  ends BIGINT NOT NULL,
  text MEDIUMBLOB NOT NULL,
  PRIMARY KEY (name),
  KEY ends (ends)
) ENGINE = InnoDB`;
