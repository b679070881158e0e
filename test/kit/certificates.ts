import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { temporaryFolder } from './folder.ts';
import { HOST } from './net.ts';
import { program } from './programs.ts';

/** Paths of PEM files. */
export interface Certificate {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** Somebody to trust, or not to. */
export interface Authority extends Disposable {
  readonly ca: string;
  /** @param names as in `DNS:localhost,IP:127.0.0.1` */
  issue(names?: string): Certificate;
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
const HERE = `DNS:localhost,IP:${HOST}`;

export function startAuthority(): Authority {
  const folder = temporaryFolder();
  const file = (name: string): string => join(folder.path, name);
  let issued = 0;
  const make = (name: string, ...args: string[]): Certificate => {
    const made = { ca: file('ca.pem'), cert: file(`${name}.pem`), key: file(`${name}.key`) };
    const out = ['-subj', `/CN=${name}`, '-keyout', made.key, '-out', made.cert];
    execFileSync(program('certificates', 'openssl'), ['req', '-x509', ...NEW_KEY, ...args, ...out], { stdio: 'pipe' });
    return made;
  };
  const { cert: ca, key } = make('ca');
  return {
    ca,
    issue: (names = HERE) => make(`server${++issued}`, '-CA', ca, '-CAkey', key, '-addext', `subjectAltName=${names}`),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}
