import type { Finding } from '../../core/index.ts';
import { findingsOf } from '../shared/danger.ts';
import { DANGERS } from './dangers.ts';
import { aboutFunctions, revisionFinding } from './revision.ts';
import type { Server } from './server.ts';
import * as sql from './sql.generated.ts';
import type { Mailbox } from './wake-ups.ts';

const RIGHTS = aboutFunctions(sql.rights);

/** What endangers locks on this server, whichever way they are taken. */
export async function findings(server: Server): Promise<Finding[]> {
  const [facts] = await server.send(sql.facts, [], 'a look at the settings');
  return findingsOf(DANGERS, facts!);
}

/** What endangers locks in tables. */
export async function tableFindings(server: Server, mailbox: Mailbox | undefined): Promise<Finding[]> {
  const found = await findings(server);
  const missing = await server.send(RIGHTS, [], 'a look at the rights');
  if (missing.length > 0) {
    found.push({
      severity: 'danger',
      code: 'missing-rights',
      message: `Missing for this role: ${missing.map((row) => row.missing).join(', ')}.`,
      advice: "Run setup() as a role that may create tables; grant what the PostgreSQL page lists under 'Rights'.",
    });
  }
  const differing = await revisionFinding(server);
  if (differing) found.push(differing);
  const notify = (channel: string) => server.send('SELECT pg_notify($1, $2)', [channel, ''], 'a test');
  if (!(await mailbox?.test(notify))) {
    found.push({
      severity: 'warning',
      code: 'not-notified',
      message: 'Nothing is heard by LISTEN: waiters find out by polling, about every 2 s.',
      advice: 'Give `connect` a connection past the transaction pooler, to the same database as the pool.',
    });
  }
  return found;
}
