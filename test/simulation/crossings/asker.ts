import { waitIn } from '../../../src/core/contract/duration.ts';
import type { LockOptions } from '../../../src/core/contract/options.ts';
import type { AnyLease } from '../../../src/core/queue/held-lease.ts';
import type { Locks } from '../../../src/locks.ts';
import type { MemoRun } from '../../../src/memo/memo.ts';
import type { Lock } from '../../../src/primitives/lock.ts';
import { asking } from '../asking.ts';
import type { Choice } from '../choice.ts';
import type { Process } from '../process.ts';
import { LONGEST_TTL } from '../workload.ts';
import type { Feature, Primitive } from './features.ts';
import { Moments } from './moments.ts';
import { optionsFor, permitsFor, workFor } from './options.ts';
import type { CrossingRecorder } from './recorder.ts';

export const KEYS: Readonly<Record<Primitive, readonly string[]>> = {
  mutex: ['k'],
  read: ['k'],
  write: ['k'],
  semaphore: ['s'],
  all: ['b', 'k', 's'],
  reentrant: ['k'],
  memo: ['k'],
};

/** Of memos. ms */
const TTL = 600;

export interface Request {
  readonly primitive: Primitive;
  readonly features: readonly Feature[];
  readonly moments: Moments;
}

/** The lock of a request, its options, and what is done with the lease in hand. */
export interface Taken extends Request {
  readonly lock: Lock;
  readonly keys: readonly string[];
  readonly options: LockOptions;
  readonly way?: 'run';
  readonly work: () => Promise<unknown>;
}

/** For what is around a request: whoever waits for that to be asked for waits for no more. */
function around(moments: Moments): Moments {
  const outer = new Moments();
  void outer.at('asked').then(() => moments.reach('asked'));
  return outer;
}

/** Asks for what a request is about, works, and gives it back. */
export class Asker {
  readonly process: Process;
  readonly locks: Locks;
  readonly choice: Choice;
  readonly recorder: CrossingRecorder;

  constructor(process: Process, locks: Locks, choice: Choice, recorder: CrossingRecorder) {
    this.process = process;
    this.locks = locks;
    this.choice = choice;
    this.recorder = recorder;
  }

  asks(request: Request): Promise<void> {
    const { primitive, features, moments } = request;
    if (primitive === 'memo') return this.#memo(request);
    const { choice, process } = this;
    const options = optionsFor(features, choice);
    const taken = {
      ...{ primitive, features, moments, keys: KEYS[primitive], lock: this.#lockOf(primitive, features) },
      options,
      work: () => process.sleep(workFor(features, options.ttl as number, choice)),
    };
    return primitive === 'reentrant' ? this.#reenters(taken) : this.takes(taken);
  }

  /** Children that exclude each other, in a hold with nearly the same options. */
  #reenters(inner: Taken): Promise<void> {
    const { choice } = this;
    // Mostly without what keeps it from getting there.
    const brief: readonly Feature[] = choice.chance(0.3) ? [] : ['wait: 0', 'signal'];
    const features = inner.features.filter((feature) => !brief.includes(feature));
    return this.takes({
      ...{ ...inner, primitive: 'mutex', features, options: optionsFor(features, choice), way: 'run' },
      moments: around(inner.moments),
      work: async () => {
        const outcomes = await Promise.allSettled([
          this.takes(inner),
          this.takes({ ...inner, moments: new Moments() }),
        ]);
        for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
      },
    });
  }

  #lockOf(primitive: Primitive, features: readonly Feature[]): Lock {
    const { locks, choice } = this;
    const semaphore = (): Lock => locks.semaphore('s', { permits: permitsFor(features, choice) });
    switch (primitive) {
      case 'read':
        return locks.rwLock('k').read;
      case 'write':
        return locks.rwLock('k').write;
      case 'semaphore':
        return semaphore();
      case 'all':
        return locks.all(choice.chance(0.5) ? ['k', semaphore(), 'b'] : ['b', semaphore(), 'k']);
      default:
        return locks.mutex('k');
    }
  }

  /** Asks in one of the ways in which a lock is asked, and gives back in one of those. */
  async takes({ lock, keys, primitive, features, options, moments, way, work }: Taken): Promise<void> {
    const { choice, process, recorder } = this;
    const [wait, ttl] = [waitIn(options.wait!), options.adaptive ? LONGEST_TTL : (options.ttl as number)];
    const request = recorder.asks({ process, keys, primitive, features, wait, ttl });
    const units = primitive === 'semaphore' ? { units: choice.whole(1, 2) } : {};
    const all = { ...options, ...units, signal: this.#signal(features, request), label: asking.getStore()! };
    let answered = false;
    const answer = (error?: unknown): void => {
      if (!answered) recorder.answered(request, error);
      answered = true;
    };
    const uses = async (lease: AnyLease): Promise<void> => {
      answer();
      recorder.given(process, lease);
      moments.reach('given');
      await work().finally(() => {
        recorder.back(lease);
        recorder.add({ what: 'gives back', request });
      });
    };
    const ways = ['run', 'block', 'block', ...(options.awaitRelease === false ? [] : ['release'])];
    try {
      const asked = this.#by(way ?? choice.pick(ways), lock, all, uses, () => moments.reach('back'));
      moments.reach('asked');
      await asked;
      answer('refused');
    } catch (error) {
      answer(error);
      throw error;
    } finally {
      recorder.add({ what: 'done', request });
    }
  }

  async #by(
    way: string,
    lock: Lock,
    options: LockOptions,
    uses: (lease: AnyLease) => Promise<void>,
    back: () => void,
  ): Promise<void> {
    if (way === 'run') return lock.run((lease) => uses(lease).finally(back), options);
    const { wait, ...rest } = options;
    const lease = await (wait === 0 && this.choice.chance(0.5) ? lock.tryAcquire(rest) : lock.acquire(options));
    if (lease === null) return;
    // As at the end of a block with `await using`, or by hand.
    const giveBack = (): Promise<unknown> => (way === 'block' ? lease[Symbol.asyncDispose]() : lease.release());
    try {
      await uses(lease);
    } finally {
      const given = giveBack();
      back();
      await given;
    }
  }

  async #memo({ features, moments }: Request): Promise<void> {
    const { choice, process, recorder } = this;
    const [key] = KEYS.memo as [string];
    const { wait, detect, maxHold } = optionsFor(features, choice);
    const asks = { process, keys: KEYS.memo, primitive: 'memo', features, wait: waitIn(wait!), ttl: TTL } as const;
    const request = recorder.asks(asks);
    const signal = this.#signal(features, request);
    let answered = false;
    const answer = (error?: unknown): void => {
      if (!answered) recorder.answered(request, error);
      answered = true;
    };
    const work = async (run: MemoRun): Promise<string> => {
      using _ = recorder.runs(process, run);
      answer();
      moments.reach('given');
      await process.sleep(workFor(features, TTL, choice));
      const value = `of request ${request}`;
      recorder.add({ what: 'made', key, token: run.token, value });
      moments.reach('back');
      return value;
    };
    try {
      const keep = choice.pick([0, 0, 200]);
      const memo = this.locks.memo<string>(key, {
        ...{ ttl: TTL, keep, label: asking.getStore()! },
        ...(detect && { detect }),
        ...(maxHold !== undefined && { maxHold }),
      });
      const asked = memo.run(work, { wait, ...(signal && { signal }) });
      moments.reach('asked');
      const { value, token } = await asked;
      recorder.add({ what: 'had', key, token, value });
      answer();
    } catch (error) {
      answer(error);
      throw error;
    } finally {
      recorder.add({ what: 'done', request });
    }
  }

  #signal(features: readonly Feature[], request: number): AbortSignal | undefined {
    if (!features.includes('signal')) return undefined;
    const controller = new AbortController();
    this.process.clock.after(this.choice.pick([1, this.choice.between(1, 400)]), () => {
      this.recorder.add({ what: 'aborts', request });
      controller.abort();
    });
    this.recorder.watch(controller.signal);
    return controller.signal;
  }
}
