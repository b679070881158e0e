import { createHash } from 'node:crypto';
import {
  type Backend,
  type Claim,
  type Clock,
  checkNames,
  type Demand,
  invalid,
  isExclusive,
  LockError,
  namesOf,
  placeTtlOf,
  quoted,
  shown,
  systemClock,
} from '../../core/index.ts';
import { portOf, type RedisClient } from '../redis/client.ts';
import { FOREIGN, ForeignBackend, type ForeignLayout } from '../redis-foreign/backend.ts';
import { type ForeignNaming, ForeignServer, namingOf } from '../redis-foreign/server.ts';
import { keysOf, type LockKeys } from './keys.ts';
import { ATTEMPT, RELEASE, RENEW } from './scripts.generated.ts';

const NAME = 'redisson';

/** Options of `redisson`. */
export interface RedissonOptions {
  /** Gives the name of a lock in Redisson, such as `` (name) => `orders:${name}` ``. Default: the name itself. Two names must not get the same. */
  readonly key?: (name: string) => string;
  /**
   * Mutexes are `RFencedLock`, whose counter gives the token, so Java and Node.js share one order of tokens. Default false: mutexes are `RLock`, and
   * tokens order our holds only.
   */
  readonly fenced?: boolean;
  /**
   * Mutexes are `RFairLock`, and wait in its queue, in order. Then `rwLock` is refused, and so is `fenced`, since an `RFairLock` has no counter.
   * Default false: mutexes ignore that queue, as an `RLock` does.
   */
  readonly fair?: boolean;
  /** Time and randomness; the machine's by default. */
  readonly clock?: Clock;
}

const KNOWN = namesOf<RedissonOptions>({ key: true, fenced: true, fair: true, clock: true });

/**
 * Shares locks with Redisson (Java, 3.28 or newer) on one Redis, also behind sentinels, or on a Cluster, over the caller's connected client. A mutex
 * is an `RLock`, with `fenced` an `RFencedLock`, with `fair` an `RFairLock`; `rwLock` is an `RReadWriteLock` of the same name. The caller closes the
 * client.
 * @throws LockError `LOCK_INVALID` when the client is of no known kind, or an option is malformed
 * @example
 * import { Redis } from 'ioredis';
 * const locks = createLocks(redisson(new Redis()));
 */
export function redisson(client: RedisClient, options: RedissonOptions = {}): Backend {
  checkNames(options, KNOWN, 'options of redisson()');
  const { key, fenced = false, fair = false, clock = systemClock } = options;
  for (const [name, given] of Object.entries({ fenced, fair }))
    if (typeof given !== 'boolean') throw invalid(`${name} is ${shown(given)}; it must be true or false`);
  if (fair && fenced)
    throw invalid('fair and fenced are both true; an RFairLock has no counter, so give only one of them');
  const naming = namingOf(key);
  const port = portOf(client, 'redisson()');
  if (port.keyPrefix !== '')
    throw invalid(
      'redisson() needs a client without a prefix of keys, since other keys stand before the name; use key',
    );
  const server = new ForeignServer(NAME, port, naming, clock);
  return new ForeignBackend(server, layoutOf(naming, port.cluster, fenced, fair));
}

/**
 * Gives the owner of a claim: a UUID and a number, as Redisson's clients have them. Each claim has its own owner, since two holds of one owner would
 * share a field. The owner does not show the id of the claim, which is a secret.
 */
export function ownerOf(id: string): string {
  const hash = createHash('sha256').update(id).digest();
  const uuid = hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  return `${uuid}:${hash.readUIntBE(16, 6)}`;
}

type Kind = 'lock' | 'read' | 'write';

function kindOf(units: Demand): Kind {
  if (!isExclusive(units)) return 'read';
  return units.readWrite ? 'write' : 'lock';
}

const KINDS: Readonly<Record<string, string>> = {
  lock: 'an RLock, which mutex() takes',
  read: 'an RReadWriteLock, which rwLock() takes',
  write: 'an RReadWriteLock, which rwLock() takes',
  string: 'a string, as an RSemaphore or another library keeps it',
};

function layoutOf(naming: ForeignNaming, cluster: boolean, fenced: boolean, fair: boolean): ForeignLayout {
  const keys = (name: string): LockKeys => keysOf(naming, name, cluster);
  return {
    traits: { ...FOREIGN, ...(fair ? { fair, canStarve: false } : { units: 'shared' }) },
    attempt(claim, limit) {
      const { key, id, ttl, label, minToken } = claim;
      if (minToken) {
        const why =
          'redisson() cannot be a node of a quorum, since its tokens cannot be raised; use plainRedis() or redis()';
        throw new LockError('LOCK_UNSUPPORTED', why, { backend: NAME, key });
      }
      const { lock, records, counter, fairQueue, fairEnds, reads } = keys(key);
      const kind = kindOf(claim);
      const more = fair ? [fairQueue, fairEnds] : fenced && kind === 'lock' ? [counter] : [];
      const placeTtl = claim.queue ? Math.ceil(placeTtlOf(claim)) : 0;
      return {
        script: ATTEMPT,
        keys: [lock, records, ...more],
        args: [limit, `${Math.ceil(ttl)}`, ownerOf(id), kind, reads, label, `${placeTtl}`],
      };
    },
    refusal: ([, , found], claim) => kindError(`${found}`, claim),
    renew(claims) {
      const all = claims.map((claim) => ({ ...claim, ...keys(claim.key) }));
      return {
        script: RENEW,
        keys: all.flatMap(({ lock, records }) => [lock, records]),
        args: all.flatMap(({ id, ttl, reads }) => [ownerOf(id), `${Math.ceil(ttl)}`, reads]),
      };
    },
    release(name, hold) {
      const { lock, records, fairQueue, fairEnds, reads, lockChannel, rwChannel } = keys(name);
      const [owner, token] = 'id' in hold ? [ownerOf(hold.id), '-'] : ['-', `${hold.token}`];
      const args = [owner, token, reads, lockChannel, rwChannel, cluster ? '1' : '0', fair ? '1' : '0'];
      return { script: RELEASE, keys: [lock, records, fairQueue, fairEnds], args };
    },
    inspect: async (...args) => (await import('./inspect.ts')).inspectRedisson(...args), // few programs call this
    // When a writer of Redisson becomes a reader, Redisson publishes nothing. So the mode is read.
    admitsReaders: async (reader, key) => (await reader.command('HGET', [key], 'mode')) === 'read',
  };
}

function kindError(found: string, claim: Claim): LockError {
  const { key } = claim;
  const wanted = KINDS[kindOf(claim)]!;
  const there = KINDS[found] ?? `a ${found} that is no lock of Redisson`;
  const message =
    `redisson refused to attempt ${quoted(key)}: its key holds ${there}. What to do: a name is one kind of lock for all programs. ` +
    `This call wants ${wanted}: use another name, or the kind that is there`;
  return new LockError('LOCK_UNAVAILABLE', message, { backend: NAME, key });
}
