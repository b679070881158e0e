import { AsyncLocalStorage } from 'node:async_hooks';
import { ALL_UNITS, ArrivalQueue, type Demand, isExclusive } from '../contract/admission.ts';
import { LockError, quoted } from '../contract/errors.ts';
import type { ProcessName } from '../contract/origin.ts';
import type { Terms } from '../contract/terms.ts';
import { assertKept, HeldLease } from './held-lease.ts';
import type { Hold } from './hold.ts';
import { AcquireRequest } from './request.ts';
import type { QueueContext, RequestEvents } from './request-events.ts';

/** The innermost frame of the async context that runs; it may be over. Each frame knows the frame around it. */
export const frames = new AsyncLocalStorage<Frame>();

type Kind = 'exclusive' | 'shared' | 'counted';

const kindOf = (demand: Demand): Kind =>
  demand.capacity !== ALL_UNITS ? 'counted' : isExclusive(demand) ? 'exclusive' : 'shared';

/**
 * How a request inside a frame of the same key is treated: the first name is the kind of the frame, the second name the kind of the request. `enter`:
 * it enters the frame again. `deadlock`: it would wait for itself, as when a reader asks to write. `queue`: it waits as any other request does. Permits
 * never re-enter.
 */
const RULES: Readonly<Record<Kind, Readonly<Record<Kind, 'enter' | 'deadlock' | 'queue'>>>> = {
  exclusive: { exclusive: 'enter', shared: 'enter', counted: 'deadlock' },
  shared: { exclusive: 'deadlock', shared: 'enter', counted: 'queue' },
  counted: { exclusive: 'deadlock', shared: 'queue', counted: 'queue' },
};

/**
 * `run` opens a frame around its function. A caller that asks for the same lock inside shares the hold, and does not wait for it. Such callers
 * form a queue under the rule `admitted`, so that two of them that start together exclude each other as any two callers do.
 */
export class Frame {
  readonly #context: QueueContext;
  readonly #lease: HeldLease;
  /** What its caller asked for: a reader inside a writer shares the writer's hold, and is a reader all the same. */
  readonly #demand: Demand;
  #parent: Frame | undefined;
  /** The queue of the callers that re-enter. Most frames have no such callers. */
  #children: ArrivalQueue<AcquireRequest> | undefined;
  /** How many functions of `run` have re-entered this frame and are still running. */
  #running = 0;
  #ended = false;

  constructor(context: QueueContext, lease: HeldLease, demand: Demand) {
    this.#context = context;
    this.#lease = lease;
    this.#demand = demand;
    this.#parent = frames.getStore();
  }

  /**
   * Gives the frame that a request for this key re-enters here, if there is one.
   * @throws LockError `LOCK_DEADLOCK`
   */
  static around(context: QueueContext, key: string, demand: Demand): Frame | undefined {
    for (let frame = frames.getStore(); frame; frame = frame.#outer) {
      if (frame.over || frame.#context !== context || frame.#lease.key !== key) continue;
      const rule = RULES[kindOf(frame.#demand)][kindOf(demand)];
      if (rule === 'enter') return frame;
      if (rule === 'deadlock') throw deadlock(key, context.engine.backend.name);
    }
    return undefined;
  }

  /**
   * The next frame around this one that is not over. The frames between the two are dropped: otherwise a long chain of tasks would keep all its
   * frames in memory.
   */
  get #outer(): Frame | undefined {
    while (this.#parent?.over) this.#parent = this.#parent.#parent;
    return this.#parent;
  }

  /** The holds of the functions around the caller, from the inside outwards. */
  static holdsAround({ name }: QueueContext): readonly Hold[] {
    return [...(frames.getStore()?.holds(name) ?? [])];
  }

  *holds(name: ProcessName): Iterable<Hold> {
    for (let frame: Frame | undefined = this; frame; frame = frame.#outer) {
      if (!frame.over && frame.#context.name === name) yield frame.#lease.hold;
    }
  }

  /** Whether the function of the frame has ended, or has given the hold back itself. */
  get over(): boolean {
    return this.#ended || this.#lease.users === 0;
  }

  /**
   * Runs `fn` inside the frame. Afterwards nobody can enter it, and the callers that waited for a turn in it go to the queue of the lock.
   * @throws LockError if the hold is over already: the locks may have been closed after the grant
   */
  async run<L, T>(fn: (lease: L) => Promise<T> | T, lease: L): Promise<T> {
    if (this.#lease.hold.over) this.#lease.assertHeld();
    try {
      return await frames.run(this, fn, lease);
    } finally {
      this.#ended = true;
      if (this.#running > 0) warnOfUnawaited(this.#context, this.#lease.key);
      // For a request that is inside already, this changes nothing.
      for (const request of this.#children?.members ?? []) request.grant(undefined);
    }
  }

  /**
   * @param watched whether the caller has to release the lease
   * @returns undefined when refused; `'ended'` when the frame was over before the turn of this request came
   * @throws LockError `LOCK_LOST` when the hold is lost: nothing may run under it any more
   */
  async enter(events: RequestEvents, terms: Terms, watched: boolean): Promise<HeldLease | undefined | 'ended'> {
    this.#children ??= new ArrivalQueue();
    if (terms.wait === 0 && !this.#children.admits(events.demand)) return undefined;
    const giveUp = (one: AcquireRequest, error: LockError): void => this.#giveUp(one, error);
    const request = new AcquireRequest(events, terms, this.#context.engine.clock.now(), giveUp);
    if (!request.isSettled && this.#children.join(request)) this.#admit(request);
    if (!request.isSettled) this.#beginWait(request);
    if (!(await request.outcome)) return 'ended';
    const child = this.#childOf(request, watched);
    try {
      assertKept(child);
      return child;
    } catch (lost) {
      await child.release();
      throw lost;
    }
  }

  /** Begins a wait. The loss of the hold ends the wait, also a loss by `close`, since the callers inside may never leave. */
  #beginWait(request: AcquireRequest): void {
    request.beginWait();
    const unlisten = this.#lease.hold.listeners.onLoss((loss) => this.#giveUp(request, loss));
    request.outcome.then(unlisten, unlisten);
  }

  #giveUp(request: AcquireRequest, error: LockError): void {
    if (request.isSettled) return;
    request.refuse(error);
    this.#leave(request);
  }

  #leave(request: AcquireRequest): void {
    for (const next of this.#children!.leave(request)) this.#admit(next);
  }

  /** Lets a request in. It counts as inside from now on, and not only when its caller continues: otherwise the hold could end in between. */
  #admit(request: AcquireRequest): void {
    if (request.isSettled) return;
    this.#lease.enter();
    request.grant(this.#lease.hold);
  }

  #childOf(request: AcquireRequest, watched: boolean): HeldLease {
    const { hold } = this.#lease;
    const running = watched ? 0 : 1;
    this.#running += running;
    const giveBack = (child: HeldLease): Promise<boolean> => {
      this.#running -= running;
      return child.leave();
    };
    const leavePlace = (): Promise<boolean> => {
      this.#leave(request);
      return this.#lease.leave();
    };
    return new HeldLease(this.#context.engine, hold, watched, giveBack, leavePlace);
  }
}

const warned = new WeakSet<QueueContext>();

/** Warns, once, that two functions ran under one hold at a time. Leases of `acquire` do not count, since a caller may pass them on. */
function warnOfUnawaited(context: QueueContext, key: string): void {
  if (warned.has(context)) return;
  warned.add(context);
  process.emitWarning(
    `a run of ${quoted(key)} inside another run of it was not awaited, so both were inside at a time. Await it, or give it reentrant: false`,
    { type: 'HoldfastUnawaitedRunWarning', code: 'HOLDFAST_UNAWAITED_RUN' },
  );
}

function deadlock(key: string, backend: string): LockError {
  const message = `${quoted(key)} is held around this call in a kind that excludes this one, so it would wait for itself. Take the stronger kind first; in a batch or a pool, ask with reentrant: false`;
  return new LockError('LOCK_DEADLOCK', message, { key, backend });
}
