import { AsyncLocalStorage } from 'node:async_hooks';
import { ALL_SEATS, isExclusive, type Seats } from '../contract/admission.ts';
import { LockError } from '../contract/errors.ts';
import { type ResolvedOptions, restOf } from '../contract/options.ts';
import { quoted } from '../engine/engine.ts';
import { AdaptiveHistory } from '../holds/adaptive-history.ts';
import type { Hold } from '../holds/hold.ts';
import { HeldLease } from '../holds/lease.ts';
import { AcquireRequest } from './acquire-request.ts';
import { ArrivalLine } from './line.ts';
import { RequestEvents } from './request-events.ts';
import type { LockRuntime } from './runtime.ts';

/** Innermost frame of the running async context; frames know the one around them. */
const frames = new AsyncLocalStorage<Frame>();

type Kind = 'exclusive' | 'shared' | 'counted';

const kindOf = (seats: Seats): Kind =>
  seats.of !== ALL_SEATS ? 'counted' : isExclusive(seats) ? 'exclusive' : 'shared';

/**
 * What asking for a kind means inside a frame of another on the same key: re-enter it, wait for oneself for ever, or
 * nothing special. Permits never re-enter; a reader that wants to write would wait for its own read.
 */
const RULES: Readonly<Record<Kind, Readonly<Record<Kind, 'enter' | 'deadlock' | 'line'>>>> = {
  exclusive: { exclusive: 'enter', shared: 'enter', counted: 'deadlock' },
  shared: { exclusive: 'deadlock', shared: 'enter', counted: 'line' },
  counted: { exclusive: 'deadlock', shared: 'line', counted: 'line' },
};

/**
 * What `run` opens around its function: whoever asks for the same lock inside shares the hold instead of waiting for it.
 * Children form a line under the one rule, so that two started together exclude each other as anyone else would.
 */
export class Frame {
  readonly #runtime: LockRuntime;
  readonly #lease: HeldLease;
  #parent: Frame | undefined;
  /** Most frames have none. */
  #children: ArrivalLine<AcquireRequest> | undefined;
  #ended = false;

  constructor(runtime: LockRuntime, lease: HeldLease) {
    this.#runtime = runtime;
    this.#lease = lease;
    this.#parent = frames.getStore();
  }

  /**
   * The frame to re-enter when `seats` of a key are asked for here, if any.
   * @throws LockError `LOCK_DEADLOCK`
   */
  static around(runtime: LockRuntime, key: string, seats: Seats): Frame | undefined {
    for (let frame = frames.getStore(); frame; frame = frame.#outer) {
      if (frame.over || frame.#runtime !== runtime || frame.#lease.key !== key) continue;
      const rule = RULES[kindOf(frame.#lease.hold.claim)][kindOf(seats)];
      if (rule === 'enter') return frame;
      if (rule === 'deadlock') throw deadlock(key, runtime.engine.backend.name);
    }
    return undefined;
  }

  /** The nearest that is not over: a task that goes on from inside, again and again, must not keep all it has been in. */
  get #outer(): Frame | undefined {
    while (this.#parent?.over) this.#parent = this.#parent.#parent;
    return this.#parent;
  }

  /** The innermost around the caller; it may be over. */
  static get current(): Frame | undefined {
    return frames.getStore();
  }

  /** Whether the caller runs in a function that this hold is held for. */
  static isInside(hold: Hold, runtime: LockRuntime): boolean {
    for (const around of frames.getStore()?.holds(runtime) ?? []) if (around === hold) return true;
    return false;
  }

  /** The holds of the process of `runtime` around whoever is inside, the innermost first. */
  *holds(runtime: LockRuntime): Iterable<Hold> {
    for (let frame: Frame | undefined = this; frame; frame = frame.#outer) {
      if (!frame.over && frame.#runtime.name === runtime.name) yield frame.#lease.hold;
    }
  }

  /** Its function has ended, or gave the hold back itself. */
  get over(): boolean {
    return this.#ended || this.#lease.hold.users === 0;
  }

  /** Runs `fn` inside; afterwards nobody is let in any more, and those who waited for a turn go to the lock's own line. */
  async run<T>(fn: () => Promise<T> | T): Promise<T> {
    try {
      return await frames.run(this, fn);
    } finally {
      this.#ended = true;
      // Who is inside already has its answer.
      for (const request of this.#children?.members ?? []) request.grant(undefined);
    }
  }

  /**
   * @returns undefined when refused; `'ended'` when the frame was over before it was this one's turn
   * @throws LockError `LOCK_LOST` when the hold is: nothing may run in its name any more
   */
  async enter(events: RequestEvents, resolved: ResolvedOptions): Promise<HeldLease | undefined | 'ended'> {
    const { engine } = this.#runtime;
    this.#children ??= new ArrivalLine();
    if (resolved.wait === 0 && !this.#children.admits(events.seats)) return undefined;
    const request = new AcquireRequest(events, resolved, engine.clock.now());
    request.limit(engine.clock, engine.backend.name, (error) => this.#giveUp(request, error));
    if (!request.settled && this.#children.join(request)) this.#admit(request);
    if (!request.settled) this.#waits(request);
    if (!(await request.outcome)) return 'ended';
    const child = this.#child(request);
    try {
      child.assertHeld();
      const { loss } = child.hold.life;
      if (loss) throw loss; // told already, though some of the lease is left
      return child;
    } catch (lost) {
      await child.release();
      throw lost;
    }
  }

  /** Nobody waits for a hold that is lost, or whose `Locks` were closed: who is inside may never leave. */
  #waits(request: AcquireRequest): void {
    request.events.waits();
    const unlisten = this.#lease.hold.life.onLoss((loss) => this.#giveUp(request, loss));
    request.outcome.then(unlisten, unlisten);
  }

  #giveUp(request: AcquireRequest, error: LockError): void {
    if (request.settled) return;
    request.refuse(error);
    this.#leave(request);
  }

  #leave(request: AcquireRequest): void {
    for (const next of this.#children!.leave(request)) this.#admit(next);
  }

  /** Inside from this moment, not from when the caller runs on: the hold must not end in between. */
  #admit(request: AcquireRequest): void {
    if (request.settled) return;
    this.#lease.hold.users++;
    request.grant(this.#lease.hold);
  }

  #child(request: AcquireRequest): HeldLease {
    const { hold } = this.#lease;
    return new HeldLease(this.#runtime.engine, hold, () => {
      this.#leave(request);
      return hold.leave();
    });
  }
}

/** The lease of seats of a key, re-entering the frame around the caller if there is one that may be. Undefined: refused, `wait` is 0. */
export async function obtain(
  runtime: LockRuntime,
  key: string,
  seats: Seats,
  resolved: ResolvedOptions,
): Promise<HeldLease | undefined> {
  const { clock } = runtime.engine;
  const began = clock.now();
  const events = new RequestEvents(runtime, key, seats, resolved, began);
  const until = began + resolved.wait;
  let asked = resolved;
  try {
    while (resolved.reentrant) {
      runtime.assertOpen(key);
      const frame = Frame.around(runtime, key, seats);
      if (!frame) break;
      const lease = await frame.enter(events, asked);
      if (lease === undefined) return await refused(runtime, events);
      if (lease !== 'ended') {
        events.ends('reentered');
        return lease;
      }
      asked = restOf(resolved, until, clock.now());
    }
    const history = AdaptiveHistory.of(runtime, key, resolved);
    if (history) asked = restOf(await history.lengthen(asked), until, clock.now());
    const hold = await runtime.line(key).obtain(events, asked, Frame.current);
    return hold ? leaseOf(runtime, hold, resolved, history) : await refused(runtime, events);
  } catch (error) {
    events.fails(error);
    return runtime.refusals.refuse(error);
  }
}

async function refused({ refusals }: LockRuntime, events: RequestEvents): Promise<undefined> {
  events.ends('refused');
  await refusals.next();
}

function leaseOf(
  { engine }: LockRuntime,
  hold: Hold,
  { ttl }: ResolvedOptions,
  history: AdaptiveHistory | undefined,
): HeldLease {
  if (!history) return new HeldLease(engine, hold);
  return new HeldLease(engine, hold, async () => {
    // Side by side, and both before the caller goes on: whoever it tells of the release may read the lesson.
    const left = history.leave(engine.clock.now() - hold.timing.since, ttl);
    const freed = await hold.leave();
    await left;
    return freed;
  });
}

function deadlock(key: string, backend: string): LockError {
  const message = `${quoted(key)} is held around this call in a kind that excludes what is asked for, so it would wait for itself. Take the stronger kind first. If this runs for others, in a batch or a pool, ask with reentrant: false`;
  return new LockError('LOCK_DEADLOCK', message, { key, backend });
}
