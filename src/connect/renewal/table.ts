import type { Claim, Handle } from '../../core/index.ts';

/** A moment on the clock of all threads: ms from an origin, modulo 2³². Two of them are less than 24 days apart. */
export type Moment = number;

/** ms from `a` to `b`. */
export const between = (a: Moment, b: Moment): number => (b - a) | 0;

/** The clock that the threads of a process share. On Linux it stands still while the machine is suspended. */
export class SharedTime {
  readonly #origin: bigint;

  constructor(origin: bigint) {
    this.#origin = origin;
  }

  now(): Moment {
    return Number((process.hrtime.bigint() - this.#origin) / 1_000_000n) | 0;
  }
}

/** How many holds one segment has room for. It has about 0.6 MB; the machine gives it memory as it is used. */
export const SLOTS = 1_024;
const ID_BYTES = 32;
const KEY_BYTES = 512;
/** A hold with a longer lease needs no stand-in. ms */
export const MAX_COVERED_MS = 10 * 86_400_000;

/** What the threads share of each hold. The main thread writes the columns up to `length`, the worker the others. */
const COLUMNS = [
  'generation',
  'sent',
  'ttl',
  'interval',
  'until',
  'length',
  /** The generation of a renewal that is on its way, or whose outcome is unknown. */
  'asking',
  'confirmed',
  'confirmedAt',
] as const;
type Columns = Readonly<Record<(typeof COLUMNS)[number], Int32Array>>;

/** What the worker needs to renew one hold. */
export type CoveredHold = Pick<Claim, 'key' | 'id' | 'ttl'>;

/** Plan of one hold in shared moments and whole ms. `until` undefined: no end. */
export interface RenewalPlan {
  readonly ttl: number;
  readonly sent: Moment;
  readonly interval: number;
  readonly until: Moment | undefined;
}

/**
 * The holds of the main thread, in memory that the worker reads. A blocked thread can send no message, so each hold is put here before its
 * caller runs. A slot has a hold while its generation is not 0. A hold whose lease changes gets the next generation, so that an answer about
 * the shorter lease is not taken for an answer about the longer one.
 */
export class Segment {
  readonly memory: SharedArrayBuffer;
  readonly #columns: Columns;
  readonly #text: Buffer;

  constructor(memory = new SharedArrayBuffer(SLOTS * (COLUMNS.length * 4 + ID_BYTES + KEY_BYTES))) {
    this.memory = memory;
    this.#columns = Object.fromEntries(
      COLUMNS.map((name, i) => [name, new Int32Array(memory, i * SLOTS * 4, SLOTS)]),
    ) as Columns;
    this.#text = Buffer.from(memory, COLUMNS.length * SLOTS * 4);
  }

  /** @returns whether the hold fits */
  put(slot: number, generation: number, { key, id }: Handle, plan: RenewalPlan): boolean {
    const at = slot * (ID_BYTES + KEY_BYTES);
    if (Buffer.byteLength(id) !== ID_BYTES || Buffer.byteLength(key) > KEY_BYTES) return false;
    this.#text.write(id, at, 'latin1');
    Atomics.store(this.#columns.length, slot, this.#text.write(key, at + ID_BYTES, 'utf8'));
    this.follow(slot, generation, plan);
    return true;
  }

  /** The generation is written last: until then the worker does not look at the other columns. */
  follow(slot: number, generation: number, { ttl, sent, interval, until }: RenewalPlan): void {
    const columns = this.#columns;
    if (Atomics.load(columns.generation, slot) !== generation) Atomics.store(columns.generation, slot, 0);
    Atomics.store(columns.ttl, slot, ttl);
    Atomics.store(columns.sent, slot, sent);
    Atomics.store(columns.interval, slot, interval);
    Atomics.store(columns.until, slot, until === undefined ? 0 : until || 1);
    Atomics.store(columns.generation, slot, generation);
  }

  free(slot: number): void {
    Atomics.store(this.#columns.generation, slot, 0);
  }

  /** @returns when the last renewal was sent that the engine has confirmed */
  lastConfirmed(slot: number, generation: number): Moment | undefined {
    const { confirmed, confirmedAt } = this.#columns;
    return Atomics.load(confirmed, slot) === generation ? Atomics.load(confirmedAt, slot) : undefined;
  }

  asks(slot: number, generation: number): boolean {
    return Atomics.load(this.#columns.asking, slot) === generation;
  }

  // The worker calls the following.

  /** @returns 0 for a free slot */
  generation(slot: number): number {
    return Atomics.load(this.#columns.generation, slot);
  }

  plan(slot: number): RenewalPlan {
    const { ttl, sent, interval, until } = this.#columns;
    return {
      ttl: Atomics.load(ttl, slot),
      sent: Atomics.load(sent, slot),
      interval: Atomics.load(interval, slot),
      until: Atomics.load(until, slot) || undefined,
    };
  }

  /**
   * Marks the hold as asked for, and only then reads its lease. The main thread changes the lease first, and then looks for the mark. So
   * one of the two threads sees what the other did.
   * @returns undefined if the hold has ended
   */
  ask(slot: number, generation: number): CoveredHold | undefined {
    const { asking, ttl, length } = this.#columns;
    Atomics.store(asking, slot, generation);
    const at = slot * (ID_BYTES + KEY_BYTES);
    const id = this.#text.toString('latin1', at, at + ID_BYTES);
    const key = this.#text.toString('utf8', at + ID_BYTES, at + ID_BYTES + Atomics.load(length, slot));
    const covered = { key, id, ttl: Atomics.load(ttl, slot) };
    if (this.generation(slot) === generation) return covered;
    this.settle(slot, generation);
    return undefined;
  }

  /** The engine has confirmed a renewal that was sent then. */
  confirm(slot: number, generation: number, sent: Moment): void {
    if (this.generation(slot) !== generation) return;
    Atomics.store(this.#columns.confirmedAt, slot, sent);
    Atomics.store(this.#columns.confirmed, slot, generation);
  }

  /** Takes the mark away: surely no renewal is on its way. */
  settle(slot: number, generation: number): void {
    Atomics.compareExchange(this.#columns.asking, slot, generation, 0);
  }
}

const CONTROL = { beat: 0, patience: 1 } as const;

/** What the threads share beside the holds. */
export class Control {
  readonly memory: SharedArrayBuffer;
  readonly #cells: Int32Array;

  constructor(memory = new SharedArrayBuffer(Object.keys(CONTROL).length * 4)) {
    this.memory = memory;
    this.#cells = new Int32Array(memory);
  }

  /** A counter that the main thread raises while its event loop runs. */
  get beats(): number {
    return Atomics.load(this.#cells, CONTROL.beat);
  }

  beat(): void {
    Atomics.add(this.#cells, CONTROL.beat, 1);
  }

  /** The shortest interval of renewals for which the worker looks often enough, ms. */
  get patience(): number {
    return Atomics.load(this.#cells, CONTROL.patience);
  }

  set patience(ms: number) {
    Atomics.store(this.#cells, CONTROL.patience, ms);
  }
}

/** What the worker begins with. */
export interface Task {
  readonly url: string | readonly string[];
  /** ms for which the counter may stand still. */
  readonly stall: number;
  /** The origin of the clock that the threads share, ns by `process.hrtime`. */
  readonly origin: bigint;
  readonly control: SharedArrayBuffer;
  readonly segments: readonly SharedArrayBuffer[];
}

export type ToWorker =
  | { readonly segment: SharedArrayBuffer }
  /** There is a hold with a shorter interval than `patience`. */
  | { readonly look: true }
  | { readonly end: true };

/** An error without what cannot be copied to another thread. */
export interface Failure {
  readonly code: unknown;
  readonly message: string;
  readonly cause?: Failure | undefined;
}

export type FromWorker = { readonly ready: true } | { readonly failed: Failure };

export function failureOf(error: unknown): Failure {
  const { code, message, cause } = (error ?? {}) as { code?: unknown; message?: unknown; cause?: unknown };
  return { code: `${code}`, message: `${message ?? error}`, ...(cause !== undefined && { cause: failureOf(cause) }) };
}
