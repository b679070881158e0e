import { readFileSync } from 'node:fs';
import { connect } from 'node:tls';
import { invalid } from '../core/index.ts';
import type { Address } from './url.ts';

export const TLS_PARAMS = ['tls', 'ca', 'cert', 'key'] as const;

export interface Tls {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/**
 * The TLS that an address asks for by `?tls=true`, by its scheme, or by a file in `ca` (trusted instead of the public authorities), `cert`
 * or `key`. Certificates are always verified.
 * @throws LockError `LOCK_INVALID`
 */
export function tlsOf({ params }: Address, always = false): Tls | undefined {
  const wanted = params.get('tls') ?? String(always);
  if (wanted !== 'true' && wanted !== 'false') throw invalid('tls must be true or false, as in ?tls=true');
  if (always && wanted === 'false') throw invalid('the URL asks for TLS, and tls is false');
  const files = TLS_PARAMS.slice(1).flatMap((name) => {
    const path = params.get(name);
    return path === null ? [] : [[name, contents(name, path)] as const];
  });
  if (files.length > 0 && params.get('tls') === 'false') throw invalid('ca, cert and key need TLS, and tls is false');
  return wanted === 'true' || files.length > 0 ? Object.fromEntries(files) : undefined;
}

function contents(name: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw invalid(`${name} names a file that cannot be read: ${(cause as Error).message}`);
  }
}

/** The error of a TLS handshake, for drivers that hide it; undefined if the handshake succeeds, or is not over within `ms`. */
export function distrust(host: string, port: number, tls: Tls, ms = 1_000): Promise<Error | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ ...tls, host, port, timeout: ms }, () => end());
    const end = (why?: Error): void => {
      resolve(why);
      socket.destroy();
    };
    socket.on('error', end).on('timeout', () => end());
  });
}
