import type { Finding } from '../../core/backend.ts';
import type { Settings } from './options.ts';
import type { Acl } from './wire/records.ts';

export interface Facts {
  /** What `srvr` says; undefined where the server does not tell. */
  readonly report: string | undefined;
  readonly acl: readonly Acl[];
  /** What the server made of the session timeout. ms. */
  readonly granted: number;
}

/** What endangers locks on this server. */
export function findings({ report, acl, granted }: Facts, { sessionTimeout }: Settings): Finding[] {
  const found: Finding[] = [];
  const add = (severity: Finding['severity'], code: string, message: string, advice: string): void => {
    found.push({ severity, code, message, advice });
  };
  const version = /version: (\d+)\.(\d+)\.(\d+)/.exec(report ?? '');
  if (!version) {
    add(
      'info',
      'version-unknown',
      'the server does not say which version it is',
      'Add srvr to 4lw.commands.whitelist, or see to it that it is 3.5 or newer, best 3.8.',
    );
  } else if (Number(version[1]) === 3 && Number(version[2]) < 5) {
    add('danger', 'version', `${version[0]} has no container nodes`, 'Upgrade to 3.8 or newer.');
  }
  if (/^Mode: standalone/m.test(report ?? '')) {
    add(
      'warning',
      'standalone',
      'one server alone: when it is down nobody gets a lock, and when its disk is lost tokens begin anew',
      'Run three or five servers.',
    );
  }
  if (granted > sessionTimeout) {
    add(
      'warning',
      'session-timeout',
      `asked for a session timeout of ${sessionTimeout} ms, got ${granted} ms: the locks of a dead process stay that long`,
      'Lower tickTime or minSessionTimeout on the servers, or ask for what they give.',
    );
  } else if (granted < sessionTimeout) {
    add(
      'info',
      'session-timeout',
      `asked for a session timeout of ${sessionTimeout} ms, got ${granted} ms: shorter stalls cost the locks`,
      'Raise maxSessionTimeout on the servers, or ask for what they give.',
    );
  }
  if (acl.some(({ scheme, id, permissions }) => scheme === 'world' && id === 'anyone' && permissions > 1)) {
    add(
      'warning',
      'acl-world-anyone',
      'everybody who can reach the server may remove locks',
      'Give auth: { user, password }, and the same to every client of these locks.',
    );
  }
  return found;
}
