import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  type Attempt,
  type Backend,
  type Claim,
  type Finding,
  type Grant,
  type Handle,
  type Hints,
  type Listing,
  MAX_DURATION_MS,
  type NewValue,
  type QueueEntry,
  type Release,
  type Renewal,
  type Traits,
  type Values,
  type Wake,
} from '../../core/index.ts';
import { type EngineQueue, hintsBy, valuesBy } from '../shared/queue.ts';
import { QUEUE_TRAITS } from '../shared/traits.ts';
import { BufferedClaims } from '../shared/waiting-claims.ts';
import { LocksFile } from './locks-file.ts';
import { machineBoot, machineTime } from './machine.ts';
import { type FileOptions, type ResolvedFileOptions, resolveFileOptions } from './options.ts';
import { checkSqlite } from './statements.ts';
import type { Durability } from './store.ts';
import type { Message, PeerEvents } from './wake-ups.ts';

/** How many claims one transaction renews or looks at. It takes about a millisecond, in which no other process can use the file. */
const MAX_BATCH = 100;
/** One attempt in this number also removes expired claims of keys that no caller asks for. */
const ATTEMPTS_PER_SWEEP = 1_024;

const traits = (durability: Durability): Traits => ({
  ...QUEUE_TRAITS,
  // If the operating system has no id for each boot, a reboot may go unnoticed. Then tokens may come a second time after a power cut.
  fencing: machineBoot() !== '' || durability === 'power' ? 'always' : 'durable',
  wakes: 'buffered',
  ttl: { min: 10, max: MAX_DURATION_MS },
});

/**
 * Locks between the processes of one machine, without a server. SQLite keeps the claims, unix sockets wake the waiters. A holder that
 * is killed is replaced within milliseconds; a stopped holder is replaced when its lease expires.
 * @throws LockError `LOCK_INVALID`; `LOCK_UNSUPPORTED` where the runtime has no SQLite. The file is opened by the first call that needs it.
 * @example const locks = createLocks(file({ path: '/var/lib/shop/locks.db' }));
 */
export function file(options: FileOptions): Backend {
  const resolved = resolveFileOptions(options);
  checkSqlite();
  return new FileBackend(resolved);
}

class FileBackend implements Backend, PeerEvents {
  readonly name = 'file';
  readonly traits: Traits;
  readonly #durability: Durability;
  readonly #file: LocksFile;
  readonly #waiting: BufferedClaims;
  #attempts = 0;

  constructor(options: ResolvedFileOptions) {
    this.#durability = options.durability;
    this.#waiting = new BufferedClaims(options.clock);
    this.#file = new LocksFile(options, this);
    this.traits = traits(options.durability);
  }

  attempt(claim: Claim): Promise<Attempt> {
    const sent = machineTime();
    const sweeps = ++this.#attempts % ATTEMPTS_PER_SWEEP === 0;
    return this.#file.transact((turn) => {
      if (sweeps) turn.sweep();
      return turn.attempt(claim, sent);
    }, claim.within);
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    const renewals: Renewal[] = [];
    for await (const batch of this.#batches(claims)) {
      const answers = await this.#file.transact((turn) =>
        batch.map((claim) => turn.step(claim.key, (queue) => queue.renew(claim))),
      );
      for (const answer of answers) renewals.push(answer);
    }
    return renewals;
  }

  release(handle: Handle, next?: Claim): Promise<Release> {
    const sent = machineTime();
    return this.#file.transact((turn) => turn.release(handle, next, sent));
  }

  store(handle: Handle, value: NewValue): Promise<boolean> {
    return this.#file.transact((turn) => turn.store(handle, value));
  }

  watch(claim: Claim, wake: Wake, age?: number): AsyncDisposable {
    return this.#waiting.watchSince(claim, wake, age);
  }
  readonly watchHold = this.watch;

  async *inspect(prefix: string, { exact = false }: Listing = {}): AsyncIterable<QueueEntry> {
    await this.#file.finish((turn) => turn.sweep());
    yield* await this.#file.transact((turn) => turn.inspect(prefix, exact));
  }

  evict(key: string, token: bigint): Promise<boolean> {
    return this.#file.transact((turn) => turn.evict(key, (claim) => claim.token === token));
  }

  async check(): Promise<Finding[]> {
    return this.#file.transact((_, { tokens, process }) => findings(tokens.path, this.#durability, process));
  }

  readonly #ask = <T>(key: string, act: (queue: EngineQueue) => T): Promise<T> =>
    this.#file.transact((turn) => turn.step(key, act, true));
  readonly hints: Hints = hintsBy(this.#ask);
  readonly values: Values = valuesBy(this.#ask, (prefix) => this.#keys(prefix));

  close(): Promise<void> {
    return this.#file.close();
  }

  onMessage({ id, token, evicted }: Message): void {
    const waiter = this.#waiting.addressee(id);
    waiter?.wake(evicted ? undefined : grantOf(waiter.claim, BigInt(token)));
  }

  onDeath(peer: string): Promise<void> {
    return this.#file.finish((turn) => turn.removeDead(peer));
  }

  async onDisconnect(): Promise<void> {
    this.#waiting.noteMissed();
    for await (const batch of this.#batches([...this.#waiting.values()])) {
      const found = await this.#file.transact((turn) =>
        batch.map(({ claim: { key, id } }) => turn.step(key, (queue) => queue.find(id))),
      );
      // Each waiter gets its grant before the next pause, in which the hold may end.
      for (const [i, { claim, wake }] of batch.entries()) if (found[i]?.held) wake(grantOf(claim, found[i].token));
    }
  }

  async *#keys(prefix: string): AsyncIterable<string> {
    yield* await this.#file.transact((turn) => turn.keysWithValues(prefix));
  }

  async *#batches<T>(all: readonly T[]): AsyncIterable<readonly T[]> {
    for (let from = 0; from < all.length; from += MAX_BATCH) {
      if (from > 0) await this.#file.pause(0);
      yield all.slice(from, from + MAX_BATCH);
    }
  }
}

const grantOf = ({ ttl }: Claim, token: bigint): Grant => ({ granted: true, token, validFor: ttl });

/** With less free space than this, bytes, SQLite's log may fill the disk while it grows. */
const FREE_BYTES = 64 * 2 ** 20;

/** @param socket the name of the socket of this process; '' when it has none */
function findings(path: string, durability: Durability, socket: string): Finding[] {
  const found: Finding[] = [];
  const { bavail, bsize } = statfsSync(dirname(path));
  const free = bavail * bsize;
  if (free < FREE_BYTES) {
    const message = `${Math.floor(free / 2 ** 20)} MiB are free where the locks file is`;
    const advice = 'free some space: on a full disk nothing can be locked, renewed or released';
    found.push({ severity: 'warning', code: 'disk-space', message, advice });
  }
  if (process.platform !== 'win32' && [path, dirname(path)].some(isOpen)) {
    const message = 'other users may write the locks file, or replace it';
    const advice = 'give the file mode 0600 and its directory mode 0700';
    found.push({ severity: 'warning', code: 'permissions', message, advice });
  }
  if (socket === '') {
    const message =
      'this process has no socket: nobody can notify it, and if it dies, others wait until its leases expire';
    const advice = 'choose a shorter path, or let this user make a private directory beside the file';
    found.push({ severity: 'warning', code: 'no-socket', message, advice });
  }
  if (durability === 'process') {
    const message = 'a power cut may undo the last grants; the holds of that time end with it, and tokens still grow';
    const advice = "durability: 'power' where grants must survive in the record";
    found.push({ severity: 'info', code: 'durability', message, advice });
  }
  return found;
}

/** Whether other users may write the file. In a directory with the sticky bit nobody may replace the files of others. */
function isOpen(path: string): boolean {
  const { mode } = statSync(path);
  return (mode & 0o022) !== 0 && (mode & 0o1000) === 0;
}
