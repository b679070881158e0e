import type { LockOptions } from '../../src/core/contract/options.ts';
import type { AnyLease } from '../../src/core/queue/held-lease.ts';
import type { Locks } from '../../src/locks.ts';
import type { Lock } from '../../src/primitives/lock.ts';
import { asking } from './asking.ts';
import type { Choice } from './choice.ts';
import type { Process } from './process.ts';
import type { Recorder } from './recorder.ts';

/** Leases, ms; the longest decides how long a run is watched after its end. */
const TTLS = [600, 1_500, 3_000];
export const LONGEST_TTL = 6_000;
const PERMITS = 3;
const KEYS = ['a', 'b'] as const;

/** What a schedule may do to others: nobody is robbed or kept waiting by intent where promptness is measured. */
export interface Manners {
  readonly gentle: boolean;
  readonly keys: number;
  /** Over several engines nobody counts permits. */
  readonly several: boolean;
  /** Leases that follow from how long others held need notes, and holds that expire. */
  readonly adaptive: boolean;
  /** Some releases wait for the next caller of their process, and nobody waits for a release. */
  readonly lingers: boolean;
}

type Op = (caller: Caller) => Promise<void>;

/** One caller after the other's pattern: asks, works, gives back, again and again, each time in another way. */
export class Caller {
  readonly process: Process;
  readonly locks: Locks;
  readonly choice: Choice;
  readonly recorder: Recorder;
  readonly manners: Manners;

  constructor(process: Process, locks: Locks, choice: Choice, recorder: Recorder, manners: Manners) {
    this.process = process;
    this.locks = locks;
    this.choice = choice;
    this.recorder = recorder;
    this.manners = manners;
  }

  async works(times: number): Promise<void> {
    for (let i = 0; i < times; i++) {
      await this.process.sleep(this.choice.chance(0.5) ? 1 : this.choice.between(0, 300));
      const ops = this.manners.gentle ? GENTLE : OPS;
      const [as, op] = this.choice.pick(this.manners.several ? ops.filter(([name]) => name !== 'semaphore') : ops);
      await this.recorder.op(this.process.name, as, () => op(this));
    }
  }

  get key(): string {
    return KEYS[this.choice.whole(0, this.manners.keys - 1)]!;
  }

  get options(): LockOptions {
    const { choice } = this;
    const { gentle, adaptive, lingers } = this.manners;
    const usual = lingers ? { linger: 80, within: 400 } : {};
    return {
      label: asking.getStore()!,
      ttl: choice.pick(TTLS),
      wait: choice.chance(gentle ? 0.8 : 0.6) ? 'forever' : choice.between(1, 1_500),
      handOff: choice.pick([false, { max: 1, within: 400 }, { max: 3, within: 400 }, usual]),
      awaitRelease: !lingers,
      ...choice.pick([
        {},
        {},
        {},
        {},
        {},
        {},
        {},
        { renew: false },
        adaptive ? { adaptive: { cap: LONGEST_TTL } } : {},
      ]),
      ...(choice.chance(0.1) && { maxHold: 700 }),
      ...(choice.chance(0.08) && { minHold: choice.between(1, 400) }),
      ...(choice.chance(gentle ? 0 : 0.15) && { signal: this.#signal() }),
    };
  }

  #signal(): AbortSignal {
    const controller = new AbortController();
    this.process.clock.after(this.choice.between(1, 800), () => controller.abort());
    return controller.signal;
  }

  /** Work with the lease in hand: mostly short, sometimes longer than the lease. */
  async uses(lease: AnyLease): Promise<void> {
    this.recorder.given(this.process, lease);
    if (this.choice.chance(0.3)) lease.signal.addEventListener('abort', () => this.#atLoss(lease));
    await this.process.sleep(this.choice.chance(0.8) ? this.choice.between(0, 30) : this.choice.between(30, 900));
  }

  /** A listener may do anything, in the middle of whatever brought the loss about. */
  #atLoss(lease: AnyLease): void {
    const { choice, locks, key } = this;
    const take = async (): Promise<void> => {
      const taken = await locks.mutex(key).tryAcquire();
      if (taken) await this.givesBack(taken);
    };
    if (choice.chance(0.5)) void this.givesBack(lease);
    if (choice.chance(0.5)) void this.recorder.op(this.process.name, 'tryAcquire in a listener', take);
    if (choice.chance(0.05)) void locks.close();
  }

  async givesBack(lease: AnyLease): Promise<void> {
    this.recorder.back(lease);
    const released = lease.release();
    if (this.choice.chance(0.8)) await released;
  }

  async takes(lock: Lock, options: LockOptions = this.options): Promise<void> {
    const lease = await lock.acquire(options);
    await this.uses(lease);
    await this.givesBack(lease);
  }

  /** Inside `run`, which gives the lease back itself. */
  async runs(lock: Lock, inside: () => Promise<unknown> = async () => {}): Promise<void> {
    await lock.run(async (lease) => {
      await this.uses(lease);
      await inside();
      this.recorder.back(lease);
    }, this.options);
  }
}

const mutex: Op = (caller) => caller.takes(caller.locks.mutex(caller.key));
const semaphore: Op = async (caller) => {
  const lock = caller.locks.semaphore('permits', { permits: PERMITS });
  const lease = await lock.acquire({ ...caller.options, units: caller.choice.whole(1, PERMITS) });
  await caller.uses(lease);
  await caller.givesBack(lease);
};
const run: Op = (caller) => caller.runs(caller.locks.mutex(caller.key));

/**
 * Children started together in one frame exclude each other, whatever becomes of one that was aborted before it began; those the
 * frame does not wait for have their turns all the same, in it or after it.
 */
const reentrant: Op = async (caller) => {
  const lock = caller.locks.mutex(caller.key);
  const child = async (number: number): Promise<void> => {
    const lease = await lock.acquire();
    caller.recorder.add({ what: 'in', key: lease.key, token: lease.token, child: number });
    await caller.uses(lease);
    caller.recorder.add({ what: 'out', key: lease.key, token: lease.token, child: number });
    await caller.givesBack(lease);
  };
  let outcomes: Promise<PromiseSettledResult<void>[]> | undefined;
  await caller.runs(lock, async () => {
    if (caller.choice.chance(0.2)) await lock.acquire({ signal: AbortSignal.abort() }).catch(() => {});
    const children = [child(1), child(2), child(3)];
    outcomes = Promise.allSettled(children);
    await Promise.allSettled(children.slice(0, caller.choice.pick([1, 3])));
  });
  for (const outcome of (await outcomes) ?? []) if (outcome.status === 'rejected') throw outcome.reason;
};

const all: Op = (caller) => {
  const parts = caller.choice.chance(0.5) ? ['a', 'b', 'c'] : ['c', 'b', 'a'];
  return caller.takes(caller.locks.all(parts));
};

/** Sometimes to the end of a lease that is not renewed, where the clocks of two processes decide. */
const attempts: Op = async (caller) => {
  const long = caller.choice.chance(0.3);
  const lease = await caller.locks.mutex(caller.key).tryAcquire(long ? { ttl: 3_000, renew: false } : {});
  if (!lease) return;
  await caller.uses(lease);
  if (long) await caller.process.sleep(3_000);
  await caller.givesBack(lease);
};

const extend: Op = async (caller) => {
  const { choice, process } = caller;
  const lease = await caller.locks.mutex(caller.key).acquire({ ...caller.options, ttl: 600 });
  caller.recorder.given(process, lease);
  // Often just after a third of the lease, when a renewal is on its way.
  await process.sleep(choice.chance(0.5) ? choice.between(200, 215) : choice.between(0, 900));
  const longer = choice.pick([[LONGEST_TTL], [LONGEST_TTL], [100], [700, LONGEST_TTL]]);
  const extending = Promise.all(longer.map((ttl) => lease.extend(ttl)));
  // Not even a caller that does not wait for it may be misled.
  if (choice.chance(0.5)) await extending.catch(() => {});
  else extending.catch(() => {});
  await process.sleep(choice.between(0, 1_800));
  await caller.givesBack(lease);
};

/** One passes the lock on while what it asked last is not answered; the next one needs it for longer. */
const relay: Op = async (caller) => {
  const { choice, process } = caller;
  const lock = caller.locks.mutex(caller.key);
  const options = { ttl: 600, handOff: { max: 3, within: 400 } };
  const first = await lock.acquire(options);
  const waiting = lock.acquire(options).then(
    (lease) => {
      // Now: the release of the first may be answered long after.
      caller.recorder.given(process, lease);
      return lease;
    },
    () => undefined,
  );
  caller.recorder.given(process, first);
  first.extend(100).catch(() => {}); // no longer than it was
  await process.sleep(choice.between(0, 20));
  const given = caller.givesBack(first);
  const next = await waiting;
  await given;
  if (!next) return;
  next.extend(LONGEST_TTL).catch(() => {});
  await process.sleep(choice.between(600, 1_800));
  await caller.givesBack(next);
};

const force: Op = async (caller) => {
  await caller.locks.forceRelease(caller.key, { reason: 'simulated' });
};

const GENTLE: readonly (readonly [string, Op])[] = [
  ['mutex', mutex],
  ['mutex', mutex],
  ['read', (caller) => caller.takes(caller.locks.rwLock(caller.key).read)],
  ['read', (caller) => caller.takes(caller.locks.rwLock(caller.key).read)],
  ['write', (caller) => caller.takes(caller.locks.rwLock(caller.key).write)],
  ['semaphore', semaphore],
  ['run', run],
  ['reentrant', reentrant],
  ['tryAcquire', attempts],
];
const OPS: typeof GENTLE = [
  ...GENTLE,
  ['all', all],
  ['extend', extend],
  ['extend', extend],
  ['relay', relay],
  ['forceRelease', force],
];
