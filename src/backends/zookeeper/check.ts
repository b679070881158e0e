import type { Finding } from '../../core/index.ts';
import type { Settings } from './options.ts';
import type { ZooKeeperConnection } from './wire/connection.ts';
import { openSocket, type ServerAddress } from './wire/open.ts';
import { getAcl } from './wire/operations.ts';

/** How long to wait for the report of a server, which may be down, ms. */
const MAX_REPORT_MS = 1_000;

/** @param granted the session timeout that the server granted, ms */
export async function check(connection: ZooKeeperConnection, granted: number, settings: Settings): Promise<Finding[]> {
  const acl = await connection.request(getAcl(settings.root)).catch(() => settings.acl);
  const reports = await Promise.all(settings.servers.map((server) => serverReport(server, settings)));
  const report = reports.find((said) => said !== '') ?? '';
  const found: Finding[] = [];
  const add = (severity: Finding['severity'], code: string, message: string, advice: string): void => {
    found.push({ severity, code, message, advice });
  };
  const version = /version: (\d+)\.(\d+)\.(\d+)/.exec(report);
  if (!version) {
    const advice = 'Add srvr to 4lw.commands.whitelist, or make sure that the version is 3.5 or newer, best 3.8.';
    add('info', 'version-unknown', 'the server does not say which version it is', advice);
  } else if (Number(version[1]) === 3 && Number(version[2]) < 5) {
    add('danger', 'version', `${version[0]} has no container nodes`, 'Upgrade to 3.8 or newer.');
  }
  if (/^Mode: standalone/m.test(report)) {
    const message =
      'one server alone: when it is down nobody gets a lock, and when its disk is lost, tokens begin again';
    add('warning', 'standalone', message, 'Run three or five servers.');
  }
  if (granted !== settings.timeout) {
    const [severity, effect, change] =
      granted > settings.timeout
        ? (['warning', 'the locks of a dead process stay that long', 'Lower tickTime or minSessionTimeout'] as const)
        : (['info', 'shorter stalls cost the locks', 'Raise maxSessionTimeout'] as const);
    const message = `asked for a session timeout of ${settings.timeout} ms, got ${granted} ms: ${effect}`;
    add(severity, 'session-timeout', message, `${change} on the servers, or ask for what they give.`);
  }
  if (acl.some(({ scheme, id, permissions }) => scheme === 'world' && id === 'anyone' && permissions > 1)) {
    const advice = 'Give auth: { user, password }, and the same to every client of these locks.';
    add('warning', 'acl-world-anyone', 'everybody who can reach the server may remove locks', advice);
  }
  return found;
}

/** The answer to `srvr`, the one four-letter command that servers allow by default; '' if no answer came in time. */
async function serverReport(server: ServerAddress, { tls, clock }: Settings): Promise<string> {
  try {
    const socket = await openSocket(server, tls, MAX_REPORT_MS, clock);
    const cancel = clock.after(MAX_REPORT_MS, () => socket.destroy());
    try {
      socket.end('srvr');
      let report = '';
      for await (const chunk of socket) report += chunk;
      return /version:/.test(report) ? report : '';
    } finally {
      cancel();
    }
  } catch {
    return ''; // the command may be forbidden
  }
}
