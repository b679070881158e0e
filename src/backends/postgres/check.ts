import type { Finding } from '../../core/index.ts';
import { type Danger, findingsOf } from '../shared/danger.ts';
import { lookAlike } from './errors.ts';
import { isTrue, type PoolRow } from './pool.ts';
import { aboutFunctions, revisionFinding } from './schema.ts';
import type { Server } from './server.ts';
import * as sql from './sql.generated.ts';
import type { Notifications } from './wake-ups.ts';

const MAX_TRANSACTION_S = 300;
const MIN_STATEMENT_MS = 1_000;
/** `check()` warns when more than this part of the queue of NOTIFY is in use. */
const FULL_QUEUE_PART = 0.5;
/** Measured on two cores: with 10 sessions that listen, hand-overs go at 0.9 of the usual rate; with 100 sessions, at 0.7. */
const MAX_LISTENERS = 50;
/** From this version on, NOTIFY wakes only the sessions that listen to the channel. */
const TARGETED_NOTIFY_VERSION = 190_000;

/** The dangers for both kinds of locks on PostgreSQL: those in tables, and session locks. */
const DANGERS: readonly Danger<PoolRow>[] = [
  {
    when: ({ replica }) => isTrue(replica),
    severity: 'danger',
    code: 'replica',
    message: 'This server is a replica: it cannot grant locks.',
    advice: 'Connect to the primary.',
  },
  {
    when: ({ version }) => Number(version) < 120_000,
    severity: 'danger',
    code: 'version',
    message: 'This server is older than PostgreSQL 12.',
    advice: 'Upgrade it.',
  },
  {
    when: ({ fsync, full_page_writes }) => fsync === 'off' || full_page_writes === 'off',
    severity: 'danger',
    code: 'no-fsync',
    message: 'fsync or full_page_writes is off: after a crash of the machine, locks and tokens may be gone or broken.',
    advice: 'Switch both on wherever the locks matter.',
  },
  {
    when: ({ synchronous_commit }) => synchronous_commit === 'off',
    severity: 'info',
    code: 'asynchronous-commit',
    message:
      'synchronous_commit is off: what locks do is on disk when it is answered all the same, but a crash can forget what you wrote while you held one.',
    advice: "Where that matters, set it to on: ALTER ROLE … SET synchronous_commit = 'on'.",
  },
  {
    when: ({ queue }) => Number(queue) > FULL_QUEUE_PART,
    severity: 'warning',
    code: 'notification-queue',
    message:
      'The queue of NOTIFY is more than half full: some session listens and does not end its transaction. Once the queue is full, waiters are not notified, and find out by polling.',
    advice: 'Find the session in pg_stat_activity by its old xact_start, and end it.',
  },
  {
    when: ({ listeners, version }) => Number(listeners) > MAX_LISTENERS && Number(version) < TARGETED_NOTIFY_VERSION,
    severity: 'warning',
    code: 'listeners',
    message: ({ listeners }) =>
      `${listeners} sessions of this database listen: before PostgreSQL 19 each NOTIFY wakes all of them, so hand-overs, and all else on this server, get slower.`,
    advice:
      "Find them in pg_stat_activity: ours are named '… holdfast listens', one for each process that waits. Let other programs listen in another database, or those of ours that wait for long poll (`connect: false`).",
  },
  {
    when: ({ product }) => lookAlike(product) !== undefined,
    severity: 'warning',
    code: 'untested',
    message: 'This server only speaks the protocol of PostgreSQL: locks on it are untested, and nothing is promised.',
    advice: 'Run the conformance suite (holdfast/testing) on it, or use PostgreSQL.',
  },
  {
    when: ({ replicas }) => Number(replicas) > 0,
    severity: 'warning',
    code: 'asynchronous-replica',
    message: ({ replicas, replica_names }) =>
      `Replicas follow asynchronously (${replica_names || replicas}): a fail-over to one of them can forget the newest grants and tokens.`,
    advice: 'Set synchronous_standby_names if locks must survive a fail-over, and fail over to those it names only.',
  },
  {
    when: ({ isolation }) => isolation === 'repeatable read' || isolation === 'serializable',
    severity: 'info',
    code: 'isolation',
    message:
      'The default isolation is above READ COMMITTED: safe, but crowded keys cost statements that are sent again.',
    advice: "For the role that locks: ALTER ROLE … SET default_transaction_isolation = 'read committed'.",
  },
  {
    when: ({ statement_timeout }) => Number(statement_timeout) > 0 && Number(statement_timeout) < MIN_STATEMENT_MS,
    severity: 'warning',
    code: 'statement-timeout',
    message: 'statement_timeout is below a second: under load, steps of a lock may be cut off and asked again.',
    advice: 'Raise it for the role that locks.',
  },
  {
    when: ({ oldest_transaction }) => Number(oldest_transaction) > MAX_TRANSACTION_S,
    severity: 'warning',
    code: 'old-transaction',
    message:
      'A transaction has been open for minutes: dead rows of busy keys pile up until it ends, and locking gets slower.',
    advice: 'Find it in pg_stat_activity; set idle_in_transaction_session_timeout.',
  },
];

const RIGHTS = aboutFunctions(sql.rights);

export async function findings(server: Server): Promise<Finding[]> {
  const [facts] = await server.send(sql.facts, [], 'a look at the settings');
  return findingsOf(DANGERS, facts!);
}

export async function tableFindings(server: Server, notifications: Notifications | undefined): Promise<Finding[]> {
  const found = await findings(server);
  const missing = await server.send(RIGHTS, [], 'a look at the rights');
  if (missing.length > 0) {
    const message = `Missing for this role: ${missing.map((row) => row.missing).join(', ')}.`;
    const advice = "Run setup() as a role that may create tables; grant what the PostgreSQL page lists under 'Rights'.";
    found.push({ severity: 'danger', code: 'missing-rights', message, advice });
  }
  const differing = await revisionFinding(server);
  if (differing) found.push(differing);
  const notify = (channel: string) => server.send('SELECT pg_notify($1, $2)', [channel, ''], 'a test');
  if (!(await notifications?.test(notify))) {
    const message = 'No notification arrives by LISTEN: waiters find out by polling, about every 2 s.';
    const advice = 'Give `connect` a connection past the transaction pooler, to the same database as the pool.';
    found.push({ severity: 'warning', code: 'not-notified', message, advice });
  }
  return found;
}
