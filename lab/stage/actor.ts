import { heldLease, type Lease } from '../../src/core/queue/held-lease.ts';
import type { Locks } from '../../src/locks.ts';
import type { Process } from '../../test/simulation/process.ts';
import type { Doing, What, Who } from './events.ts';
import { ResourceClient } from './resource-client.ts';
import type { Setting } from './setting.ts';
import { StoreClient } from './store-client.ts';

/** What a process counts on: that the lock is its own, and until when, by its own clock. */
export interface Belief {
  readonly token?: bigint;
  readonly held: () => boolean;
  /** The end by the clock of the process; infinite where it knows of no end. */
  readonly until: () => number;
}

/** How long a write is away from the last look before it: a pause may come in between. ms */
const STEP = 1;

/** What the callers in one process do. */
export class Actor {
  readonly name: Who;
  readonly process: Process;
  /** The locks of holdfast; undefined in a naive scene. */
  locks: Locks | undefined;
  doing: Doing = 'idle';
  done = 0;
  /** Why its last job failed, if it did. */
  failed: string | undefined;
  belief: Belief | undefined;
  /** The speed of its clock: 1 is right. */
  readonly rate: number;
  /** How far its wall clock is ahead, ms. */
  readonly ahead: number;
  readonly #setting: Setting;

  constructor(process: Process, clock: Pick<Actor, 'rate' | 'ahead'>, setting: Setting) {
    this.name = process.name as Who;
    this.process = process;
    this.rate = clock.rate;
    this.ahead = clock.ahead;
    this.#setting = setting;
  }

  /** The lock of this scene, as the library gives it. */
  get lock() {
    return this.locks!.mutex('counter');
  }

  /** The servers of the naive scenes. */
  get store(): StoreClient {
    return this.stores[0]!;
  }

  get stores(): StoreClient[] {
    return this.#setting.stores.map((store, i) => new StoreClient(this, store, this.#setting, `engine ${i + 1}`));
  }

  /** What the clock on its wall says, ms. */
  get wall(): number {
    return this.#setting.now + this.ahead;
  }

  sleep(ms: number): Promise<void> {
    return this.process.sleep(ms);
  }

  tell(what: What, more: { readonly token?: string; readonly n?: number; readonly code?: string } = {}): void {
    this.#setting.tell({ what, who: this.name, ...more });
  }

  asks(): void {
    this.failed = undefined;
    this.doing = 'asks';
    this.tell('asks');
  }

  /** It has the lock, for all that it knows. */
  has(lease?: Lease): void {
    this.doing = 'works';
    const hold = lease && heldLease(lease).hold; // the lease itself says only what is left
    this.belief = {
      token: lease?.token,
      held: () => lease?.held ?? true,
      until: () => hold?.timing.deadline ?? Number.POSITIVE_INFINITY,
    };
    lease?.signal.addEventListener('abort', () => this.tell('told-of-loss'));
    this.tell('begins', lease?.token === undefined ? {} : { token: `${lease.token}` });
  }

  /** It counts on the lock no more, and gives it back. */
  gives(): void {
    this.belief = undefined;
    this.doing = 'gives';
  }

  /** Its job is over. */
  rests(): void {
    this.belief = undefined;
    this.doing = 'idle';
  }

  /**
   * Reads the number, works, and writes it one higher: with a token, the resource refuses it once it has seen a newer one; with a
   * lease, it ends when that is lost, and looks at it before it writes.
   */
  async counts(ms: number, lease: Partial<Pick<Lease, 'token' | 'signal' | 'assertHeld'>> = {}): Promise<void> {
    const { token } = lease;
    const counter = new ResourceClient(this, this.#setting);
    const seen = await counter.read(token);
    await this.#works(ms, lease.signal);
    lease.assertHeld?.();
    this.tell('checks', token === undefined ? {} : { token: `${token}` });
    await this.sleep(STEP);
    await counter.write(seen, token);
    this.done++;
  }

  /** As long as it takes, or until it is told that the lock is lost. */
  async #works(ms: number, signal?: AbortSignal): Promise<void> {
    if (!signal) return this.sleep(ms);
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
      void this.sleep(ms).then(resolve);
    });
  }
}
