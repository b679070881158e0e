import type { LockOptions } from '../../../src/core/contract/options.ts';
import type { AnyLease } from '../../../src/core/holds/lease.ts';
import type { Locks } from '../../../src/locks.ts';
import type { MemoRun } from '../../../src/memo/result.ts';
import type { Lock } from '../../../src/primitives/lock.ts';
import { asking } from '../asking.ts';
import type { Choice } from '../choice.ts';
import type { Process } from '../process.ts';
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

interface Request {
  readonly primitive: Primitive;
  readonly features: readonly Feature[];
  readonly moments: Moments;
}

/** The lock of a request, its options, and what is done with the lease in hand. */
interface Taken extends Request {
  readonly lock: Lock;
  readonly keys: readonly string[];
  readonly options: LockOptions;
  readonly way?: 'run';
  readonly work: () => Promise<unknown>;
}

/** For what is around a request: whoever waits for that to be asked for waits for no more. */
function asked(moments: Moments): Moments {
  const around = new Moments();
  void around.at('asked').then(() => moments.reach('asked'));
  return around;
}

/** A process in which requests with some features are made. */
export class CrossingCaller {
  readonly process: Process;
  readonly locks: Locks;
  readonly choice: Choice;
  readonly recorder: CrossingRecorder;
  /** On which requests are nested that look for deadlocks. */
  readonly outer: string;

  constructor(process: Process, locks: Locks, choice: Choice, recorder: CrossingRecorder) {
    this.process = process;
    this.locks = locks;
    this.choice = choice;
    this.recorder = recorder;
    this.outer = `outer ${recorder.next()}`;
  }

  /** Makes one request, and all that befalls it. */
  async crosses(primitive: Primitive, features: readonly Feature[], moments: Moments = new Moments()): Promise<void> {
    if (features.includes('forced')) this.#when(moments, () => this.#forces(primitive));
    if (features.includes('close')) this.#when(moments, () => this.closes());
    const request = { primitive, features, moments };
    const asks = (): Promise<unknown> => (primitive === 'memo' ? this.#memo(request) : this.#asks(request));
    const inside = features.includes('memo') ? () => this.#inMemo(asks) : asks;
    const work = features.includes('detect') ? () => this.#nested(inside) : inside;
    await this.recorder.op(this.process.name, `${primitive} with ${features.join(' and ')}`, work);
    moments.reach('done');
  }

  /** Has what the other one is going to ask for, and asks for what that one has around it. */
  async opposes(primitive: Primitive, outer: string, own: Moments, others: Moments): Promise<void> {
    const { locks, process, recorder } = this;
    const [key] = KEYS[primitive === 'all' ? 'mutex' : primitive];
    const lock = { semaphore: () => locks.semaphore(key!, { permits: 3 }), read: () => locks.rwLock(key!).write };
    const whole = primitive in lock ? lock[primitive as 'read']() : locks.mutex(key!);
    const units = primitive === 'semaphore' ? { units: 3 } : {};
    await recorder.op(process.name, 'opposes', () =>
      whole.run(
        async (lease) => {
          recorder.given(process, lease);
          own.reach('given');
          await others.at('asked');
          const options = { ttl: 1_500, wait: 8_000, detect: true };
          const request = { primitive: 'mutex', features: ['detect'], moments: own } as const;
          const inside = this.#takes({
            ...{ ...request, options, lock: locks.mutex(outer), keys: [outer] },
            work: async () => {},
          });
          await inside.finally(() => recorder.back(lease));
        },
        { ttl: 1_500, label: asking.getStore()!, ...units },
      ),
    );
    own.reach('done');
  }

  async closes(): Promise<void> {
    const { process, recorder } = this;
    recorder.closes(process);
    await recorder.op(process.name, 'close', () => this.locks.close());
    recorder.add({ what: 'closed', by: process.name });
  }

  async #forces(primitive: Primitive): Promise<void> {
    const key = this.choice.pick(KEYS[primitive]);
    await this.recorder.op(this.process.name, 'forceRelease', async () => {
      const evicted = await this.locks.forceRelease(key, { reason: 'simulated' });
      this.recorder.add({ what: 'forced', key, evicted });
    });
  }

  /** Something befalls a request: in the turn of what becomes of it, or a little later. */
  #when(moments: Moments, act: () => Promise<void>): void {
    const after = this.choice.chance(0.5) ? 0 : this.choice.between(0, 60);
    void moments.at(this.choice.pick(['asked', 'given', 'back'])).then(async () => {
      if (after > 0) await this.process.sleep(after);
      if (!this.process.crashed) await act();
    });
  }

  async #nested(inside: () => Promise<unknown>): Promise<void> {
    const { process, recorder } = this;
    await this.locks.mutex(this.outer).run(
      async (lease) => {
        recorder.given(process, lease);
        await inside().finally(() => recorder.back(lease));
      },
      { ttl: 1_500, label: asking.getStore()! },
    );
  }

  async #inMemo(inside: () => Promise<unknown>): Promise<void> {
    const name = this.choice.chance(0.5) ? this.process.name : this.outer;
    const memo = this.locks.memo<string>(`memo ${name}`, { ttl: 1_500, label: asking.getStore()! });
    await memo.run(async (run) => {
      using _ = this.recorder.runs(this.process, run);
      await inside();
      return 'done';
    });
  }

  #asks({ primitive, features, moments }: Request): Promise<void> {
    const { choice, process } = this;
    const options = optionsFor(features, choice);
    const keys = KEYS[primitive];
    const wait = (): Promise<void> => process.sleep(workFor(features, choice));
    const request = {
      primitive,
      features,
      moments,
      options,
      keys,
      lock: this.#lockOf(primitive, features),
      work: wait,
    };
    if (primitive !== 'reentrant') return this.#takes(request);
    // Mostly without what keeps it from getting there.
    const brief: readonly Feature[] = choice.chance(0.3) ? [] : ['wait: 0', 'signal'];
    const around = features.filter((feature) => !brief.includes(feature));
    const inner = (own: Moments) => this.#takes({ ...request, moments: own });
    return this.#takes({
      ...{ ...request, primitive: 'mutex', features: around, options: optionsFor(around, choice) },
      ...{ moments: asked(moments), way: 'run' },
      work: async () => {
        const outcomes = await Promise.allSettled([inner(moments), inner(new Moments())]);
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
  async #takes({ lock, keys, primitive, features, options, moments, way, work }: Taken): Promise<void> {
    const { choice, process, recorder } = this;
    const request = recorder.asks({ process, keys, primitive, features, wait: options.wait as number });
    const units = primitive === 'semaphore' ? { units: choice.whole(1, 2) } : {};
    const signal = features.includes('signal') ? this.#signal(request) : undefined;
    const all = { ...options, ...units, signal, label: asking.getStore()! };
    let answered = false;
    const uses = async (lease: AnyLease): Promise<void> => {
      answered = true;
      recorder.answered(request);
      recorder.given(process, lease);
      moments.reach('given');
      await work().finally(() => {
        recorder.back(lease);
        recorder.add({ what: 'gives back', request });
      });
    };
    const ways = ['run', 'block', 'block', ...(options.awaitRelease === false ? [] : ['release'])];
    try {
      const asked = this.#asksFor(lock, way ?? choice.pick(ways), all, uses, moments);
      moments.reach('asked');
      await asked;
      if (!answered) recorder.answered(request, 'refused');
    } catch (error) {
      if (!answered) recorder.answered(request, error);
      throw error;
    } finally {
      recorder.add({ what: 'done', request });
    }
  }

  async #asksFor(
    lock: Lock,
    way: string,
    options: LockOptions,
    uses: (lease: AnyLease) => Promise<void>,
    moments: Moments,
  ): Promise<void> {
    if (way === 'run') return lock.run((lease) => uses(lease).finally(() => moments.reach('back')), options);
    const { wait, ...rest } = options;
    const lease = await (wait === 0 && this.choice.chance(0.5) ? lock.tryAcquire(rest) : lock.acquire(options));
    if (lease === null) return;
    await uses(lease);
    // As at the end of a block with `await using`, or by hand.
    const given = way === 'block' ? lease[Symbol.asyncDispose]() : lease.release();
    moments.reach('back');
    await given;
  }

  async #memo({ features, moments }: Request): Promise<void> {
    const { choice, process, recorder } = this;
    const { wait } = optionsFor(features, choice);
    const request = recorder.asks({ process, keys: KEYS.memo, primitive: 'memo', features, wait: wait as number });
    const signal = features.includes('signal') ? this.#signal(request) : undefined;
    const keep = choice.pick([0, 0, 200]);
    const memo = this.locks.memo<string>(KEYS.memo[0]!, { ttl: 600, keep, label: asking.getStore()! });
    let answered = false;
    const answer = (error?: unknown): void => {
      if (!answered) recorder.answered(request, error);
      answered = true;
    };
    const work = async (run: MemoRun): Promise<string> => {
      using _ = recorder.runs(process, run);
      answer();
      moments.reach('given');
      await process.sleep(workFor(features, choice));
      const value = `of request ${request}`;
      recorder.made(run, value);
      moments.reach('back');
      return value;
    };
    try {
      const asked = memo.run(work, { wait: wait!, ...(signal && { signal }) });
      moments.reach('asked');
      const { value, token } = await asked;
      recorder.add({ what: 'had', key: KEYS.memo[0]!, token, value });
      answer();
    } catch (error) {
      answer(error);
      throw error;
    } finally {
      recorder.add({ what: 'done', request });
    }
  }

  #signal(request: number): AbortSignal {
    const controller = new AbortController();
    this.process.clock.after(this.choice.pick([1, this.choice.between(1, 400)]), () => {
      this.recorder.add({ what: 'aborts', request });
      controller.abort();
    });
    this.recorder.watch(controller.signal);
    return controller.signal;
  }
}
