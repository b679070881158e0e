import type { Finding } from '../../core/backend.ts';
import { isTrue, type Row } from './client.ts';
import type { Server } from './server.ts';
import { facts } from './sql.generated.ts';

type Judge = Finding & { readonly when: (facts: Row) => boolean };

/** s. */
const OLD_TRANSACTION = 300;
/** ms. */
const SHORT_STATEMENTS = 1_000;

const JUDGES: readonly Judge[] = [
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
    severity: 'danger',
    code: 'asynchronous-commit',
    message:
      'synchronous_commit is off: a crash can forget a grant that was already told, and give its token out again.',
    advice: "Set it to on, at least for the role that locks: ALTER ROLE … SET synchronous_commit = 'on'.",
  },
  {
    when: ({ replicas, standbys }) => Number(replicas) > 0 && standbys === '',
    severity: 'warning',
    code: 'asynchronous-replica',
    message: 'Replicas follow asynchronously: a fail-over can forget the newest grants and tokens.',
    advice: 'Set synchronous_standby_names if locks must survive a fail-over.',
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
    when: ({ statement_timeout }) => Number(statement_timeout) > 0 && Number(statement_timeout) < SHORT_STATEMENTS,
    severity: 'warning',
    code: 'statement-timeout',
    message: 'statement_timeout is below a second: under load, steps of a lock may be cut off and asked again.',
    advice: 'Raise it for the role that locks.',
  },
  {
    when: ({ oldest_transaction }) => Number(oldest_transaction) > OLD_TRANSACTION,
    severity: 'warning',
    code: 'old-transaction',
    message:
      'A transaction has been open for minutes: dead rows of busy keys pile up until it ends, and locking gets slower.',
    advice: 'Find it in pg_stat_activity; set idle_in_transaction_session_timeout.',
  },
];

/** What endangers locks on any PostgreSQL, whichever way they are taken. */
export async function findings(server: Server): Promise<Finding[]> {
  const [row] = await server.send(facts, [], 'a look at the settings');
  return JUDGES.filter(({ when }) => when(row!)).map(({ when: _, ...finding }) => finding);
}
