import type { ConnectionOptions } from 'node:tls';
import {
  type Clock,
  checkGiven,
  type Duration,
  invalid,
  milliseconds,
  namesOf,
  systemClock,
} from '../../core/index.ts';
import { rootOf } from './names.ts';
import { type Credentials, parseServers } from './wire/open.ts';
import { type Acl, CREATOR_ONLY, OPEN } from './wire/operations.ts';

/** Options of `zookeeper`. */
export interface ZookeeperOptions {
  /** `'h1:2181,h2:2181,h3:2181'`; the default port is 2181. One server is used; when it fails, another one. */
  readonly servers: string;
  /**
   * How long the servers keep the locks of a silent process, and the shortest `ttl`. Default 10 s, from 1 s to 1 hour. The servers raise
   * or lower this time to their own bounds, from 2 to 20 ticks by default: usually 4 s to 40 s.
   */
  readonly sessionTimeout?: Duration;
  /** Authenticates by digest. Then only this user may use the nodes we make. */
  readonly auth?: Credentials;
  /** Rights of the nodes we make. Default: the creator only (with `auth`) or everybody (without). */
  readonly acl?: readonly Acl[];
  /** Connects by TLS, with Node's own options (`ca`, `cert`, `key`…). Certificates are verified unless the options say otherwise. */
  readonly tls?: ConnectionOptions | boolean;
  /** The path of the parent node of all keys, without the first slash. Default `holdfast`. */
  readonly prefix?: string;
  /** Time and randomness. Default: the machine's. */
  readonly clock?: Clock;
}

export type Settings = Readonly<ReturnType<typeof settingsOf>>;

const KNOWN = namesOf<ZookeeperOptions>({
  servers: true,
  sessionTimeout: true,
  auth: true,
  acl: true,
  tls: true,
  prefix: true,
  clock: true,
});
const BOUNDS = { min: 1_000, max: 3_600_000 };

/** @throws LockError `LOCK_INVALID`. */
export function settingsOf(options: ZookeeperOptions) {
  checkGiven(options, KNOWN, 'options of zookeeper()');
  const { auth, tls, prefix = 'holdfast', sessionTimeout = 10_000, clock = systemClock } = options;
  if (auth && (typeof auth.user !== 'string' || typeof auth.password !== 'string' || auth.user.includes(':')))
    throw invalid('auth must have a user, without a colon, and a password');
  return {
    servers: parseServers(options.servers),
    timeout: milliseconds(sessionTimeout, 'sessionTimeout', BOUNDS),
    auth,
    acl: checkAcl(options.acl ?? (auth ? CREATOR_ONLY : OPEN)),
    tls: tls === true ? {} : tls || undefined,
    root: rootOf(prefix),
    clock,
  };
}

/** All permissions of a node, as bits. */
const ALL = 31;

/** Nobody could use nodes with misspelt rights, not even their creator. */
function checkAcl(acl: readonly Acl[]): readonly Acl[] {
  const isGood = ({ permissions = 0, scheme, id }: Partial<Acl>): boolean =>
    permissions > 0 && (permissions & ALL) === permissions && typeof scheme === 'string' && typeof id === 'string';
  if (Array.isArray(acl) && acl.length > 0 && acl.every((entry) => isGood(entry ?? {}))) return acl;
  throw invalid('acl must be a list of { permissions, scheme, id }, with permissions from 1 to 31, which are all');
}
