import type { Process } from '../../test/simulation/process.ts';
import type { Standing } from './line.ts';

interface Value {
  readonly owner: string;
  readonly text: string;
  readonly set: number;
  expires: number;
}

/** A key-value server, as far as naive locks need it: one key, each command at once, time by its own clock. */
export class Store {
  readonly machine: Process;
  /** The listeners for releases. */
  readonly listeners = new Map<string, () => void>();
  /** A copy of it elsewhere, which hears of a change later. */
  onChange: () => void = () => {};
  #value: Value | undefined;

  constructor(machine: Process) {
    this.machine = machine;
  }

  get(): Value | undefined {
    if (this.#value && this.#value.expires <= this.machine.clock.now()) this.#value = undefined;
    return this.#value;
  }

  /** @param ttl ms; infinite: it stays until it is deleted */
  set(owner: string, ttl: number, text = ''): void {
    const set = this.machine.clock.now();
    this.#value = { owner, text, set, expires: set + ttl };
    this.onChange();
  }

  /** What is there, over or not. */
  get left(): Value | undefined {
    return this.#value;
  }

  /** Only where there is none. */
  add(owner: string, ttl: number): boolean {
    if (this.get()) return false;
    this.set(owner, ttl);
    return true;
  }

  expire(ttl: number): void {
    const value = this.get();
    if (value) value.expires = this.machine.clock.now() + ttl;
  }

  delete(): Value | undefined {
    const value = this.get();
    this.#value = undefined;
    this.onChange();
    return value;
  }

  publish(): void {
    for (const tell of this.listeners.values()) tell();
  }

  /** The state of the other server a moment ago. */
  copy(value: Value | undefined): void {
    this.#value = value && { ...value };
  }

  /** @param trueTime of a time of this machine's clock */
  line(trueTime: (time: number) => number): Standing[] {
    const value = this.#value;
    if (!value) return [];
    const ends = value.expires < Number.POSITIVE_INFINITY;
    return [{ who: value.owner, held: true, ...(ends && { expires: trueTime(value.expires) }) }];
  }
}
