import type { Claim, Handle } from '../../core/index.ts';

/** A moment on the clock that the threads of a process share: whole ms since an origin. On Linux that clock stops while the machine is suspended. */
export type Moment = number;

/** Makes the shared clock. @param origin ns by `process.hrtime` */
export const sharedClock = (origin: bigint) => (): Moment => Number((process.hrtime.bigint() - origin) / 1_000_000n);
export type SharedClock = ReturnType<typeof sharedClock>;

/** How many holds one segment of about 0.6 MB has room for. The machine gives a segment memory only as the segment is used. */
export const SLOTS = 1_024;
const ID_BYTES = 32;
const KEY_BYTES = 512;

/** The numbers that the threads share for each hold. The main thread writes the columns from `generation` to `length`, the worker the others. */
const COLUMNS = [
  'generation',
  'sent',
  'ttl',
  'interval',
  'until',
  'length',
  /** The generation of the hold whose renewal is on its way, or has an unknown outcome; 0: there is none. */
  'asking',
  'confirmed',
  'confirmedAt',
] as const;
type Column = (typeof COLUMNS)[number];
const PLAN = ['ttl', 'sent', 'interval', 'until'] as const satisfies readonly Column[];
const COLUMN_STARTS = Object.fromEntries(COLUMNS.map((name, i) => [name, i * SLOTS])) as Record<Column, number>;
const cellOf = (column: Column, slot: number): number => COLUMN_STARTS[column] + slot;
/** Bytes of one number: 64 bits, so that no moment overflows. */
const CELL_BYTES = 8;

export type CoveredHold = Pick<Claim, 'key' | 'id' | 'ttl'>;

/** When to renew one hold: moments, and whole ms. */
export interface RenewalPlan {
  readonly ttl: number;
  readonly sent: Moment;
  readonly interval: number;
  /** The moment from which on the hold is not renewed. */
  readonly until: Moment;
}

/**
 * The holds of the main thread, in memory that the worker reads. A blocked thread can send no message, so each hold is written here before its caller
 * runs. A slot has a hold while its generation is not 0. A hold whose lease changes gets the next generation, since an answer about the shorter lease
 * must not count for the longer one.
 */
export class Segment {
  readonly memory: SharedArrayBuffer;
  readonly #cells: BigInt64Array;
  readonly #text: Buffer;

  constructor(memory = new SharedArrayBuffer(SLOTS * (COLUMNS.length * CELL_BYTES + ID_BYTES + KEY_BYTES))) {
    this.memory = memory;
    this.#cells = new BigInt64Array(memory, 0, COLUMNS.length * SLOTS);
    this.#text = Buffer.from(memory, COLUMNS.length * SLOTS * CELL_BYTES);
  }

  #get(column: Column, slot: number): number {
    return Number(Atomics.load(this.#cells, cellOf(column, slot)));
  }

  #set(column: Column, slot: number, value: number): void {
    const whole = Math.floor(Math.min(value, Number.MAX_SAFE_INTEGER));
    Atomics.store(this.#cells, cellOf(column, slot), BigInt(whole));
  }

  /** @returns whether the hold fits */
  put(slot: number, generation: number, { key, id }: Handle, plan: RenewalPlan): boolean {
    const at = slot * (ID_BYTES + KEY_BYTES);
    if (Buffer.byteLength(id) !== ID_BYTES || Buffer.byteLength(key) > KEY_BYTES) return false;
    this.#text.write(id, at, 'latin1');
    this.#set('length', slot, this.#text.write(key, at + ID_BYTES, 'utf8'));
    this.follow(slot, generation, plan);
    return true;
  }

  /** The generation is written last: until then the worker does not look at the other columns. */
  follow(slot: number, generation: number, plan: RenewalPlan): void {
    if (this.generation(slot) !== generation) this.free(slot);
    for (const name of PLAN) this.#set(name, slot, plan[name]);
    this.#set('generation', slot, generation);
  }

  free(slot: number): void {
    this.#set('generation', slot, 0);
  }

  /** @returns when the last confirmed renewal was sent; undefined if there is none */
  lastConfirmed(slot: number, generation: number): Moment | undefined {
    return this.#get('confirmed', slot) === generation ? this.#get('confirmedAt', slot) : undefined;
  }

  asks(slot: number, generation: number): boolean {
    return this.#get('asking', slot) === generation;
  }

  // The worker calls the methods below.

  /** @returns 0 for a free slot */
  generation(slot: number): number {
    return this.#get('generation', slot);
  }

  plan(slot: number): Omit<RenewalPlan, 'ttl'> {
    return { sent: this.#get('sent', slot), interval: this.#get('interval', slot), until: this.#get('until', slot) };
  }

  /**
   * Marks the hold as asked for, and only then reads its lease. The main thread changes the lease first, and then looks for the mark. So
   * one of the two threads sees what the other did.
   * @returns undefined if the hold has ended
   */
  ask(slot: number, generation: number): CoveredHold | undefined {
    this.#set('asking', slot, generation);
    const at = slot * (ID_BYTES + KEY_BYTES);
    const id = this.#text.toString('latin1', at, at + ID_BYTES);
    const key = this.#text.toString('utf8', at + ID_BYTES, at + ID_BYTES + this.#get('length', slot));
    const covered = { key, id, ttl: this.#get('ttl', slot) };
    if (this.generation(slot) === generation) return covered;
    this.settle(slot, generation);
    return undefined;
  }

  /** Notes that the engine has confirmed the renewal sent at `sent`. */
  confirm(slot: number, generation: number, sent: Moment): void {
    if (this.generation(slot) !== generation) return;
    this.#set('confirmedAt', slot, sent);
    this.#set('confirmed', slot, generation);
  }

  /** Removes the mark, once no renewal can be on its way. */
  settle(slot: number, generation: number): void {
    Atomics.compareExchange(this.#cells, cellOf('asking', slot), BigInt(generation), 0n);
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

export interface Task {
  readonly url: string | readonly string[];
  /** How long the worker renews while the counter stands still, ms. */
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

/** The parts of an error that can be copied to another thread. */
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
