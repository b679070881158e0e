import { getEventListeners } from 'node:events';
import { EXCLUSIVE } from '../../../src/core/contract/admission.ts';
import type { AnyLease, HeldLease } from '../../../src/core/queue/held-lease.ts';
import type { Hold } from '../../../src/core/queue/hold.ts';
import type { MemoRun } from '../../../src/memo/memo.ts';
import type { Process } from '../process.ts';
import { type Believer, Recorder } from '../recorder.ts';
import type { World } from '../world.ts';
import type { Feature, Primitive } from './features.ts';

interface Open {
  readonly hold: Hold;
  readonly number: number;
  readonly process: Process;
  /** How many leases of it are given, and not back. */
  leases: number;
}

interface Running {
  readonly hold: number;
  readonly process: Process;
  readonly run: MemoRun;
}

export interface Asked {
  readonly process: Process;
  readonly keys: readonly string[];
  readonly primitive: Primitive;
  readonly features: readonly Feature[];
  readonly wait: number;
  readonly ttl: number;
}

/** Writes down what is asked with which options, too, and how holds end. */
export class CrossingRecorder extends Recorder {
  readonly #known = new WeakMap<Hold, Open>();
  /** Holds that were not given back. */
  readonly #open = new Set<Open>();
  readonly #closing = new Set<Process>();
  readonly #now: { readonly now: number };
  readonly #runs = new Set<Running>();
  readonly #signals: AbortSignal[] = [];
  #named = 0;
  #requests = 0;
  /** The runs of memos are holds below zero. */
  #begun = 0;

  constructor(world: World, evicted: ReadonlySet<string>) {
    super(world, evicted);
    this.#now = world;
  }

  /** For a name that nothing else has. */
  next(): number {
    return this.#named++;
  }

  asks({ process, ...asked }: Asked): number {
    const request = this.#requests++;
    this.add({ what: 'request', request, by: process.name, ...asked });
    return request;
  }

  /** @param error a code of ours, or what a caller was told otherwise */
  answered(request: number, error?: unknown): void {
    const { code } = (error ?? {}) as { code?: string };
    this.add({ what: 'answer', request, ...(error !== undefined && { error: code ?? String(error) }) });
  }

  closes(process: Process): void {
    this.#closing.add(process);
    this.add({ what: 'closing', by: process.name });
  }

  /** The function of a memo begins; at the end of the block it is over. */
  runs(process: Process, run: MemoRun): Disposable {
    const running = { hold: -++this.#begun, process, run };
    this.#runs.add(running);
    return { [Symbol.dispose]: () => void this.#runs.delete(running) };
  }

  /** Nothing may listen to it in the end. */
  watch(signal: AbortSignal): void {
    this.#signals.push(signal);
  }

  ends(): void {
    const listeners = this.#signals.reduce((sum, signal) => sum + getEventListeners(signal, 'abort').length, 0);
    this.add({ what: 'listened', listeners });
  }

  override given(process: Process, lease: AnyLease): void {
    super.given(process, lease);
    if ('parts' in lease) return;
    const { hold } = lease as HeldLease;
    const known = this.#known.get(hold);
    if (known) {
      known.leases++;
      this.#open.add(known);
      return;
    }
    const given = this.events.findLast((event) => event.what === 'given')!;
    const { timing, terms, claim } = hold;
    const { lease: length } = terms.lengths;
    const open = { hold, number: given.hold, process, leases: 1 };
    this.#known.set(hold, open);
    this.#open.add(open);
    this.add({
      what: 'terms',
      hold: given.hold,
      key: claim.key,
      units: claim.units,
      capacity: claim.capacity,
      // Renewed for as long as `maxHold` says, and good for a lease after that.
      limit: this.#now.now + (terms.renew ? terms.maxHold : 0) + Math.max(length, terms.adaptive?.cap ?? 0),
      renewals: terms.renew ? timing.interval : Number.POSITIVE_INFINITY,
      minHold: terms.minHold,
      linger: terms.handOff.linger,
      ttl: length,
    });
  }

  override back(lease: AnyLease): void {
    super.back(lease);
    if ('parts' in lease) return;
    const { hold } = lease as HeldLease;
    const open = this.#known.get(hold);
    if (!open || !this.#open.has(open)) return;
    open.leases--;
    if (!hold.held) this.#over(open);
    else if (open.leases === 0) this.#open.delete(open);
  }

  protected override noteBeliefs(): void {
    for (const open of this.#open) if (open.process.crashed || !open.hold.held) this.#over(open);
    super.noteBeliefs();
  }

  protected override *believers(): Iterable<Believer> {
    yield* super.believers();
    for (const { hold, process, run } of this.#runs) {
      if (process.crashed || !run.held || this.wasEvicted(run.key, run.token)) continue;
      yield { key: run.key, held: { hold, ...EXCLUSIVE } };
    }
  }

  /** Until when its `delay` keeps others out. */
  #over(open: Open): void {
    this.#open.delete(open);
    const { hold, number, process } = open;
    const { timing, terms, claim, token, tenure } = hold;
    if (this.#closing.has(process) || this.wasEvicted(claim.key, token - BigInt(tenure.passes))) return;
    // Less what two clocks may differ in.
    const closedUntil = this.#now.now + (timing.deadline - process.clock.now()) * 0.99 + terms.delay * 0.98 - 5;
    this.add({ what: 'over', hold: number, key: claim.key, closedUntil });
  }
}
