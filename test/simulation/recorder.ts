import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { QueueEntry } from '../../src/core/contract/backend.ts';
import type { LockEvent } from '../../src/core/contract/events.ts';
import type { AnyLease, HeldLease } from '../../src/core/queue/held-lease.ts';
import type { Hold } from '../../src/core/queue/hold.ts';
import { deadlineOf } from '../../src/core/queue/hold-timing.ts';
import type { MultiLease } from '../../src/primitives/multi-lease.ts';
import { asking, isLabel, labelOf } from './asking.ts';
import type { Event, Held } from './history.ts';
import type { Process } from './process.ts';
import { Votes } from './votes.ts';
import type { World } from './world.ts';

const EVENTS = [
  'holdfast:waiting',
  'holdfast:acquired',
  'holdfast:handed-over',
  'holdfast:reentered',
  'holdfast:answered',
  'holdfast:refused',
  'holdfast:timed-out',
  'holdfast:aborted',
  'holdfast:failed',
  'holdfast:renewed',
  'holdfast:renewal-failed',
  'holdfast:lost',
  'holdfast:released',
  'holdfast:release-failed',
];

type Unstamped<E> = E extends Event ? Omit<E, 'at'> : never;

interface Tracked {
  readonly lease: HeldLease;
  readonly process: Process;
  readonly hold: number;
  readonly number: number;
}

/** One that believes to hold a key. */
export interface Believer {
  readonly key: string;
  readonly held: Held;
}

/** A process, and how many watches it has on the engine. */
interface Residence {
  readonly process: Process;
  readonly watches: () => number;
}

/** Writes down what the callers of the library see, and what the engine does. */
export class Recorder implements Disposable {
  readonly events: Event[] = [];
  readonly #world: World;
  readonly #evicted: ReadonlySet<string>;
  readonly #holds = new Map<Hold, number>();
  readonly #open = new Set<Tracked>();
  readonly #believed = new Map<string, string>();
  /** Of holds that were lost before their callers had them. */
  readonly #early = new Set<unknown>();
  readonly #unkept = new Set<number>();
  readonly #votes = new Votes();
  #ops = 0;
  #leases = 0;

  /** @param evicted claims evicted by force, as `key:token` */
  constructor(world: World, evicted: ReadonlySet<string>) {
    this.#world = world;
    this.#evicted = evicted;
    subscribe('holdfast:lost', this.#lost);
    for (const name of EVENTS) subscribe(name, this.#told);
  }

  [Symbol.dispose](): void {
    unsubscribe('holdfast:lost', this.#lost);
    for (const name of EVENTS) unsubscribe(name, this.#told);
  }

  add(event: Unstamped<Event>): void {
    this.events.push({ at: this.#world.now, ...event } as Event);
  }

  /** One operation of a caller, from the asking to the end. What it throws is written down, and goes no further. */
  async op(by: string, as: string, work: () => Promise<unknown>): Promise<void> {
    const op = this.#ops++;
    this.add({ what: 'asked', op, by, as });
    const error = await asking.run(labelOf(op), work).then(
      () => undefined,
      (thrown) => thrown as Error & { code?: string },
    );
    this.add({ what: 'settled', op, ...(error && { error: error.code ?? String(error.stack ?? error) }) });
  }

  /** By the library, now; `of` is whose it is. */
  called(as: string, of?: string): void {
    this.add({ what: 'called', as, of, in: asking.getStore() });
  }

  given(process: Process, lease: AnyLease): void {
    if ('parts' in lease) {
      for (const part of (lease as MultiLease).parts) this.given(process, part);
      return;
    }
    const { hold, key, token } = lease as HeldLease;
    let number = this.#holds.get(hold);
    if (number === undefined) {
      number = this.#holds.size;
      this.#holds.set(hold, number);
      if (this.#early.delete(hold.loss)) this.add({ what: 'lost', hold: number });
    }
    const tracked: Tracked = { lease: lease as HeldLease, process, hold: number, number: this.#leases++ };
    this.#open.add(tracked);
    const { passes } = hold.tenure;
    const { id } = hold.claim;
    const robbed = this.#robbed(hold);
    // A lease of that length is counted from when it was asked for, and its process may die at once.
    const kept =
      this.#world.now +
      deadlineOf(Math.min(hold.timing.sent, hold.timing.since), hold.terms.minHold) -
      process.clock.now();
    this.add({
      what: 'given',
      hold: number,
      lease: tracked.number,
      id,
      by: process.name,
      key,
      token,
      robbed,
      passes,
      kept,
    });
    const told = { what: 'signalled', hold: number, lease: tracked.number } as const;
    const of = asking.getStore();
    if (lease.signal.aborted) this.add(told);
    else
      lease.signal.addEventListener('abort', () => {
        this.called('a loss signal', of);
        this.add(told);
      });
  }

  /** Just before it is given back. */
  back(lease: AnyLease): void {
    if ('parts' in lease) {
      for (const part of (lease as MultiLease).parts) this.back(part);
      return;
    }
    const tracked = [...this.#open].find((each) => each.lease === lease);
    if (!tracked) return;
    this.#open.delete(tracked);
    this.add({ what: 'back', hold: tracked.hold, lease: tracked.number, held: lease.held });
  }

  holds(process: Process): boolean {
    return [...this.#open].some((each) => each.process === process && each.lease.held);
  }

  /** After each event: who believes what now. */
  readonly see = (): void => this.noteBeliefs();

  protected noteBeliefs(): void {
    const holders = Map.groupBy(this.believers(), ({ key }) => key);
    for (const key of new Set([...this.#believed.keys(), ...holders.keys()])) {
      const now = [...new Map(holders.get(key)?.map(({ held }) => [held.hold, held])).values()];
      const text = now.map(({ hold }) => hold).join();
      if ((this.#believed.get(key) ?? '') === text) continue;
      this.#believed.set(key, text);
      this.add({ what: 'believed', key, holders: now });
    }
  }

  /** Whoever believes to hold a key; once for each lease. */
  protected *believers(): Iterable<Believer> {
    for (const { lease, process, hold } of this.#open) {
      if (process.crashed || !lease.held || this.#robbed(lease.hold)) continue;
      const { units, capacity } = lease.hold.claim;
      yield { key: lease.key, held: { hold, units, capacity } };
    }
  }

  /** After each event, where there are several nodes: whether a majority keeps what is believed in. Once for each hold. */
  lookAt(lists: readonly (readonly QueueEntry[])[]): void {
    for (const { lease, process, hold } of this.#open) {
      if (process.crashed || !lease.hold.exclusive || this.#unkept.has(hold) || !lease.held) continue;
      if (this.#robbed(lease.hold)) continue;
      const votes = this.#votes.for(lease.hold, lists);
      if (votes === undefined || votes > lists.length / 2) continue;
      this.#unkept.add(hold);
      this.add({ what: 'unkept', hold, key: lease.key, votes });
    }
  }

  /** Long after the end: what the engines list, and what is pending in processes that live. */
  left(lists: readonly (readonly QueueEntry[])[], sides: readonly Residence[]): void {
    const living = sides.filter(({ process }) => !process.crashed);
    this.add({
      what: 'left',
      claims: lists.flat().length,
      timers: living.reduce((sum, { process }) => sum + process.pending, 0),
      watches: living.reduce((sum, { watches }) => sum + watches(), 0),
    });
  }

  get anybodyBelieves(): boolean {
    return this.#open.size > 0;
  }

  #robbed(hold: Hold): boolean {
    return this.wasEvicted(hold.claim.key, hold.token - BigInt(hold.tenure.passes));
  }

  protected wasEvicted(key: string, token: bigint): boolean {
    return this.#evicted.has(`${key}:${token}`);
  }

  readonly #told = (message: unknown, name: string | symbol): void => {
    const { label } = message as LockEvent;
    if (isLabel(label)) this.called(String(name), label);
  };

  readonly #lost = (message: unknown): void => {
    const { error } = message as LockEvent;
    const found = [...this.#holds].find(([hold]) => hold.loss === error);
    if (found) this.add({ what: 'lost', hold: found[1] });
    else this.#early.add(error);
  };
}
