import { AsyncLocalStorage } from 'node:async_hooks';
import { EXCLUSIVE, isExclusive, type Seats, SHARED } from './admission.ts';
import { quoted } from './engine.ts';
import { LockError } from './errors.ts';
import { HeldLease } from './lease.ts';
import { Lessons } from './lessons.ts';
import { Line } from './line.ts';
import { restOf, type Terms } from './options.ts';
import type { Space } from './space.ts';
import { Wish } from './wish.ts';

/** Innermost frame of the running async context; frames know the one around them. */
const frames = new AsyncLocalStorage<Frame>();

type Kind = 'exclusive' | 'shared' | 'counted';

const kindOf = (seats: Seats): Kind =>
  isExclusive(seats)
    ? seats.of === EXCLUSIVE.of
      ? 'exclusive'
      : 'counted'
    : seats.of === SHARED.of
      ? 'shared'
      : 'counted';

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
  readonly #space: Space;
  readonly #lease: HeldLease;
  #parent: Frame | undefined;
  readonly #children = new Line<Wish>();
  #ended = false;

  constructor(space: Space, lease: HeldLease) {
    this.#space = space;
    this.#lease = lease;
    this.#parent = frames.getStore();
  }

  /**
   * The frame to re-enter when `seats` of a key are asked for here, if any.
   * @throws LockError `LOCK_DEADLOCK`
   */
  static around(space: Space, key: string, seats: Seats): Frame | undefined {
    for (let frame = frames.getStore(); frame; frame = frame.#outer) {
      if (frame.over || frame.#space !== space || frame.#lease.key !== key) continue;
      const rule = RULES[kindOf(frame.#lease.hold.claim)][kindOf(seats)];
      if (rule === 'enter') return frame;
      if (rule === 'deadlock') throw deadlock(key, space.engine.backend.name);
    }
    return undefined;
  }

  /** The nearest that is not over: a task that goes on from inside, again and again, must not keep all it has been in. */
  get #outer(): Frame | undefined {
    while (this.#parent?.over) this.#parent = this.#parent.#parent;
    return this.#parent;
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
      for (const wish of this.#children.members) if (!this.#children.isInside(wish)) wish.grant(undefined);
    }
  }

  /**
   * @returns undefined when refused; `'ended'` when the frame was over before it was this one's turn
   * @throws LockError `LOCK_LOST` when the hold is: nothing may run in its name any more
   */
  async enter(seats: Seats, terms: Terms): Promise<HeldLease | undefined | 'ended'> {
    const { engine } = this.#space;
    if (terms.wait === 0 && !this.#children.admits(seats)) return undefined;
    const wish = new Wish(this.#lease.key, seats, terms, engine.clock.now());
    wish.limit(engine.clock, engine.backend.name, (error) => this.#giveUp(wish, error));
    if (!wish.settled && this.#children.join(wish)) this.#admit(wish);
    if (!wish.settled) this.#untilLost(wish);
    if (!(await wish.outcome)) return 'ended';
    const child = this.#child(wish);
    try {
      child.assertHeld();
      if (child.hold.loss) throw child.hold.loss; // told already, though some of the lease is left
      return child;
    } catch (lost) {
      await child.release();
      throw lost;
    }
  }

  /** Nobody waits for a hold that is lost, or whose `Locks` were closed: who is inside may never leave. */
  #untilLost(wish: Wish): void {
    const unlisten = this.#lease.hold.onLoss((loss) => this.#giveUp(wish, loss));
    wish.outcome.then(unlisten, unlisten);
  }

  #giveUp(wish: Wish, error: LockError): void {
    if (wish.settled) return;
    wish.refuse(error);
    this.#leave(wish);
  }

  #leave(wish: Wish): void {
    for (const next of this.#children.leave(wish)) this.#admit(next);
  }

  /** Inside from this moment, not from when the caller runs on: the hold must not end in between. */
  #admit(wish: Wish): void {
    if (wish.settled) return;
    this.#lease.hold.users++;
    wish.grant(this.#lease.hold);
  }

  #child(wish: Wish): HeldLease {
    const { hold } = this.#lease;
    return new HeldLease(this.#space.engine, hold, () => {
      this.#leave(wish);
      return hold.leave();
    });
  }
}

/** The lease of seats of a key, re-entering the frame around the caller if there is one that may be. Undefined: refused, `wait` is 0. */
export async function obtain(space: Space, key: string, seats: Seats, terms: Terms): Promise<HeldLease | undefined> {
  const { clock } = space.engine;
  const until = clock.now() + terms.wait;
  let asked = terms;
  while (terms.reentrant) {
    space.assertOpen(key);
    const frame = Frame.around(space, key, seats);
    if (!frame) break;
    const lease = await frame.enter(seats, asked);
    if (lease !== 'ended') return lease;
    asked = restOf(terms, until, clock.now());
  }
  const lessons = Lessons.of(space, key, terms);
  if (lessons) asked = restOf(await lessons.lengthen(asked), until, clock.now());
  const hold = await space.line(key).obtain(seats, asked);
  if (!hold) return undefined;
  if (!lessons) return new HeldLease(space.engine, hold, () => hold.leave());
  return new HeldLease(space.engine, hold, async () => {
    // Side by side, and both before the caller goes on: whoever it tells of the release may read the lesson.
    const left = lessons.leave(clock.now() - hold.since, terms.ttl);
    const freed = await hold.leave();
    await left;
    return freed;
  });
}

function deadlock(key: string, backend: string): LockError {
  const message = `${quoted(key)} is held around this call in a kind that excludes what is asked for, so it would wait for itself. Take the stronger kind first. If this runs for others, in a batch or a pool, ask with reentrant: false`;
  return new LockError('LOCK_DEADLOCK', message, { key, backend });
}
