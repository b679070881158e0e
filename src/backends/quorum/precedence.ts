import type { Clock } from '../../core/contract/clock.ts';
import type { Named, NextNote } from './next-note.ts';
import { RecentKeys } from './recent-keys.ts';

/**
 * After this wait a process asks to be next: before that, chance serves it sooner. It is given in ms, and in times of the way to the
 * nodes: the note takes several ways, and during them no process asks.
 */
const PATIENCE = 20;
const WAYS = 16;
/** How often a process reads the note, ms, if it is next itself or gets the key again and again. */
const LOOK = 25;
/** A process that asks again within this time after its release may keep the others out, ms. Their pauses are as long. */
const AGAIN = 250;
/** How often the next holder renews its note, and how much longer than that the note lasts, ms. */
const RENEWED = 80;
const LASTS = 170;

/** After this time another process has seen the note, and has written its own if it has waited longer, ms. */
const SETTLES = 5;
/** A process that has not asked for this long no longer waits, ms: the pauses of a waiter are shorter. */
const GONE = 1_000;

interface Use {
  /** The time since which this process has been refused; undefined if it was granted since. */
  since: number | undefined;
  /** The time of the last refusal. */
  refused: number;
  /** The time of the last release by this process. */
  released: number;
  /** True if other processes may wait: this process was refused before its grant, or asked again just after its release. */
  contended: boolean;
  /** The time of the last read of the note, and the read that is under way. */
  looked: number;
  looking: Promise<void> | undefined;
  /** The time of the first and of the latest note in which this process names itself. */
  said: number | undefined;
  saidAt: number;
  /** The other process that is next, and the time at which its note was first seen. */
  next: (Named & { readonly seen: number }) | undefined;
}

/**
 * Who goes first at a key that several processes ask for without pause. There is no line over several nodes, and a process that
 * asks again as it gives back leaves no gap in which another could come: so the one that has waited longest leaves a note that
 * it is next, and the others do not ask until it has been served, or the note is over.
 */
export class Precedence {
  readonly #note: NextNote;
  readonly #clock: Clock;
  readonly #id: string;
  readonly #uses = new RecentKeys<Use>();
  /** How long the nodes take to answer, ms: a moving average. */
  #way = 0;

  constructor(note: NextNote, clock: Clock) {
    this.#note = note;
    this.#clock = clock;
    this.#id = clock.id().slice(0, 16);
  }

  /**
   * Whether another process goes first. Asks the nodes where this one has waited for long, or another was first when they were
   * asked last.
   */
  async yields(key: string): Promise<boolean> {
    const use = this.#uses.get(key);
    await use?.looking;
    if (!use) return false;
    if (this.#clock.now() - use.refused >= GONE) use.since = use.said = undefined;
    if (this.#knows(use)) return false;
    use.since ??= this.#clock.now();
    const { said } = use;
    await this.#look(key, use);
    if (!use.next && use.said !== said) {
      // This process has just written its note, and another process that has waited longer may have done the same.
      await new Promise<void>((resolve) => this.#clock.after(SETTLES, resolve));
      await this.#look(key, use);
    }
    return use.next !== undefined;
  }

  /** True if this process may ask: no long waiter is known, or this process is next itself. */
  #knows({ next, since, said, looked }: Use): boolean {
    const now = this.#clock.now();
    if (next) return false;
    return said === undefined ? since === undefined || now - since < this.#patience : now - looked < LOOK;
  }

  get #patience(): number {
    return Math.max(PATIENCE, WAYS * this.#way);
  }

  /** Whether this process is next, as far as it knows. */
  isNext(key: string): boolean {
    return this.#uses.get(key)?.said !== undefined;
  }

  /** @param took ms until the nodes had answered; undefined: they were not asked */
  refused(key: string, took?: number): void {
    if (took !== undefined) this.#way = this.#way === 0 ? took : 0.8 * this.#way + 0.2 * took;
    const use = this.#use(key);
    use.refused = this.#clock.now();
    use.since ??= use.refused;
  }

  granted(key: string): void {
    const use = this.#uses.get(key);
    if (!use) return;
    use.contended = use.since !== undefined || this.#clock.now() - use.released < AGAIN;
    use.since = undefined;
    if (use.said === undefined) return;
    use.said = undefined;
    this.#note.forget(key);
  }

  /** Call it at a release of the key. It may read the note, so that the next attempt knows which process goes first. */
  releases(key: string): void {
    const use = this.#use(key);
    const now = this.#clock.now();
    use.released = now;
    if (use.contended && now - use.looked >= LOOK) void this.#look(key, use);
  }

  #look(key: string, use: Use): Promise<void> {
    use.looking ??= this.#lookNow(key, use).finally(() => {
      use.looking = undefined;
    });
    return use.looking;
  }

  async #lookNow(key: string, use: Use): Promise<void> {
    use.looked = this.#clock.now();
    const named = await this.#note.read(key);
    const now = this.#clock.now();
    const waited = use.since === undefined ? 0 : now - use.since;
    use.next = this.#nextOf(use, named, now);
    if (use.next && use.next.waited + now - use.next.seen > waited) use.said = undefined;
    else {
      use.next = undefined;
      if (waited >= this.#patience && (use.said === undefined || now - use.saidAt >= RENEWED))
        this.#say(key, use, waited, now);
    }
  }

  #say(key: string, use: Use, waited: number, now: number): void {
    use.said ??= now;
    use.saidAt = now;
    this.#note.write(key, { id: this.#id, waited }, RENEWED + LASTS + 4 * this.#way + waited / 20);
  }

  /** Keeps the first sight of an unchanged note: the next holder goes on waiting, and writes its wait only now and then. */
  #nextOf({ next }: Use, named: Named | undefined, now: number): Use['next'] {
    if (!named || named.id === this.#id) return undefined;
    return next?.id === named.id && next.waited === named.waited ? next : { ...named, seen: now };
  }

  #use(key: string): Use {
    const known = this.#uses.get(key);
    const use: Use = known ?? {
      ...{ since: undefined, refused: Number.NEGATIVE_INFINITY, released: Number.NEGATIVE_INFINITY, contended: false },
      ...{ looked: Number.NEGATIVE_INFINITY, looking: undefined, said: undefined, saidAt: 0, next: undefined },
    };
    this.#uses.set(key, use);
    return use;
  }
}
