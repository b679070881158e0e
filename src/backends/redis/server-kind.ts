import { LockError } from '../../core/contract/errors.ts';

/** The fields of INFO that Redis does not have, each with the name of its server. */
const UNSUPPORTED: Readonly<Record<string, string>> = { dragonfly_version: 'Dragonfly' };

/**
 * Names a server that speaks the protocol, but on which our scripts do not lock: Dragonfly refuses a script the keys that the call did not
 * name, and runs another Lua. Undefined for Redis, Valkey, and a server that does not say.
 */
export function whyUnsupported(info: ReadonlyMap<string, string>): string | undefined {
  const field = Object.keys(UNSUPPORTED).find((name) => info.has(name));
  return field && `${UNSUPPORTED[field]} ${info.get(field)}`;
}

/** Reads the fields of INFO. */
export const fieldsOf = (info: string): Map<string, string> =>
  new Map(
    info
      .split('\r\n')
      .filter((line) => line.includes(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );

/**
 * @param infos what the server answered, by several names
 * @throws LockError `LOCK_UNSUPPORTED`
 */
export function refuseUnsupported(infos: readonly string[]): void {
  const fields = infos.map(fieldsOf);
  const server = whyUnsupported(fields[0]!);
  if (server)
    refuse(`was given a client of ${server}, on which its scripts were never run. Use Redis 6.2 or newer, or Valkey`);
  // One script is about many keys, and such a proxy sends it where the first of them belongs.
  if (new Set(fields.map((field) => field.get('run_id'))).size > 1) {
    refuse(
      'was given a client of a proxy that spreads names over several servers (twemproxy, Envoy, the proxy of a Cluster). ' +
        'Connect to one server, or to the Cluster itself with a client of a Cluster',
    );
  }
}

function refuse(why: string): never {
  throw new LockError('LOCK_UNSUPPORTED', `redis() ${why}`, { backend: 'redis' });
}
