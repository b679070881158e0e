import {
  type Attempt,
  type Backend,
  type Claim,
  type Finding,
  type Grant,
  type Handle,
  type Hints,
  type Listing,
  LONGEST,
  type NewValue,
  type QueueEntry,
  type Release,
  type Renewal,
  type Traits,
  type Values,
  type Wake,
} from '../../core/index.ts';
import { type EngineQueue, hintsBy, valuesBy } from '../shared/queue.ts';
import type { StoredClaim } from '../shared/stored-queue.ts';
import { QUEUE_TRAITS } from '../shared/traits.ts';
import { MailboxClaims } from '../shared/waiting-claims.ts';
import { findings } from './check.ts';
import { LocksFile } from './locks-file.ts';
import { machineBoot, machineTime } from './machine.ts';
import { type FileOptions, type ResolvedFileOptions, resolveFileOptions } from './options.ts';
import { checkSqlite } from './statements.ts';
import type { Durability } from './store.ts';
import type { Message, PeerEvents } from './wake-ups.ts';

/** Holds renewed in one transaction. Others, and this process, wait about a millisecond for it. */
const BATCH = 100;
/** The number of attempts between two sweeps, which remove expired claims of keys that no caller asks for. */
const SWEEP_EVERY = 1_024;

const traits = (durability: Durability): Traits => ({
  ...QUEUE_TRAITS,
  // Where the system does not name its starts, a reboot is not always seen. Then tokens might come again after a power cut.
  fencing: machineBoot() !== '' || durability === 'power' ? 'always' : 'durable',
  wakes: 'mailbox',
  ttl: { min: 10, max: LONGEST },
});

/**
 * Locks between the processes of one machine, without a server. SQLite keeps the claims, unix sockets wake the waiters. A holder that
 * is killed is replaced within milliseconds; a holder that is stopped, when its lease expires.
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
  readonly #waiting: MailboxClaims;
  #attempts = 0;

  constructor(options: ResolvedFileOptions) {
    this.#durability = options.durability;
    this.#waiting = new MailboxClaims(options.clock);
    this.#file = new LocksFile(options, this);
    this.traits = traits(options.durability);
  }

  attempt(claim: Claim): Promise<Attempt> {
    const sent = machineTime();
    const sweeps = ++this.#attempts % SWEEP_EVERY === 0;
    return this.#file.transact((turn) => {
      if (sweeps) turn.sweep();
      return turn.attempt(claim, sent);
    }, claim.within);
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    const renewals: Renewal[] = [];
    for (let from = 0; from < claims.length; from += BATCH) {
      if (from > 0) await this.#file.pause(0);
      const batch = claims.slice(from, from + BATCH);
      const answers = await this.#file.transact((turn) =>
        batch.map((claim) => turn.step(claim.key, (queue) => queue.renew(claim))),
      );
      for (const answer of answers) renewals.push(answer);
    }
    return renewals;
  }

  release(handle: Handle, next?: Claim, value?: NewValue): Promise<Release> {
    const sent = machineTime();
    return this.#file.transact((turn) => turn.release(handle, next, sent, value));
  }

  watch(claim: Claim, wake: Wake, age?: number): AsyncDisposable {
    return this.#waiting.watchSince(claim, wake, age);
  }

  watchHold(claim: Claim, wake: Wake, age: number): AsyncDisposable {
    return this.#waiting.watchSince(claim, wake, age);
  }

  async *inspect(prefix: string, { exact = false }: Listing = {}): AsyncIterable<QueueEntry> {
    await this.#file.finish((turn) => turn.sweep());
    yield* await this.#file.transact((turn) => turn.inspect(prefix, exact));
  }

  async evict(key: string, token: bigint): Promise<boolean> {
    const isIt = (claim: StoredClaim): boolean => claim.token === token;
    return this.#file.transact((turn) => turn.evict(key, isIt));
  }

  async check(): Promise<Finding[]> {
    return this.#file.transact((_, { store, peers }) => findings(store.path, this.#durability, peers.name));
  }

  readonly hints: Hints = hintsBy((key, act) => this.#step(key, act));
  readonly values: Values = valuesBy(
    (key, act) => this.#step(key, act),
    (prefix) => eachOf(this.#file.transact((turn) => turn.remembered(prefix))),
  );

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
    const waiting = [...this.#waiting.values()];
    const found = await this.#file.transact((turn) =>
      waiting.map(({ claim: { key, id } }) => turn.step(key, (queue) => queue.find(id))),
    );
    for (const [i, { claim, wake }] of waiting.entries()) if (found[i]?.held) wake(grantOf(claim, found[i].token));
  }

  #step<T>(key: string, act: (queue: EngineQueue) => T): Promise<T> {
    return this.#file.transact((turn) => turn.step(key, act, true));
  }
}

const grantOf = ({ ttl }: Claim, token: bigint): Grant => ({ granted: true, token, validFor: ttl });

async function* eachOf<T>(list: Promise<readonly T[]>): AsyncIterable<T> {
  yield* await list;
}
