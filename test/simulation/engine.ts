import { memory } from '../../src/backends/memory.ts';
import { BufferedClaims } from '../../src/backends/shared/waiting-claims.ts';
import type {
  Attempt,
  Backend,
  Claim,
  Grant,
  Handle,
  Hints,
  NewValue,
  QueueEntry,
  Release,
  Renewal,
  Run,
  Traits,
  Values,
  Wake,
} from '../../src/core/contract/backend.ts';
import type { Clock } from '../../src/core/contract/clock.ts';
import { claim } from '../core/claim.ts';
import type { Process } from './process.ts';

/** What is between the processes and the engine. */
export interface Wire {
  /** A request of `process`: `work` is what the engine does when it arrives. */
  call<T>(process: Process, machine: Process, work: () => Promise<T>): Promise<T>;
  /** Word from the engine that nobody asked for. */
  tell(process: Process, machine: Process, work: () => void): void;
}

/** What the engine answers, with its own time, from which a client learns when an attempt of its is too late. */
interface Timed<T> {
  readonly time: number;
  readonly answer: T;
}

/** What a server runs, on the clock of its machine. */
export type Serve = (clock: Clock) => Backend;

/** The memory backend on a machine of its own, as one server for all processes. */
export class Engine {
  readonly machine: Process;
  readonly clock: Clock;
  backend: Backend;
  /** The present run of the server. */
  run = '1';
  #began: number;
  /** Called once, when the server has served such a request and has not answered yet. */
  onServed: { readonly what: 'attempt' | 'renewal' | 'note'; readonly next: () => void } | undefined;
  onAdmitted: (id: string) => void = () => {};
  onFreed: (id: string) => void = () => {};
  onEvicted: (key: string, token: bigint) => void = () => {};
  readonly #listeners = new Map<string, Wake>();
  readonly #serve: Serve;

  constructor(machine: Process, serve: Serve = (clock) => memory({ clock })) {
    this.machine = machine;
    this.clock = machine.clock;
    this.#serve = serve;
    this.#began = this.clock.now();
    this.backend = serve(machine.clock);
  }

  /** What the server says of its run. */
  get named(): Run {
    return { id: `${this.machine.name} ${this.run}`, age: this.clock.now() - this.#began };
  }

  /** Begins another run, which has none of the data. @param token below all tokens of this run: servers take them from the time of day */
  restart(token: bigint): void {
    this.run = `${Number(this.run) + 1}`;
    this.#began = this.clock.now();
    this.#listeners.clear();
    this.backend = this.#serve(this.clock);
    const first = claim('first', { key: 'first', queue: false, minToken: token });
    void this.backend.attempt(first);
    void this.backend.release(first);
  }

  /** @param told hears of a grant; without one, of words that answer the claim */
  async attempt(claim: Claim, notAfter: number, told: Wake): Promise<Timed<Attempt>> {
    const time = this.clock.now();
    if (time > notAfter) return { time, answer: { granted: false, late: true } };
    const answer = await this.backend.attempt(claim);
    if (answer.granted) this.#served('attempt');
    if (!answer.granted && claim.queue) {
      this.backend.watch!(claim, (grant) => {
        if (grant) this.onAdmitted(claim.id);
        told(grant);
        this.#listeners.get(claim.id)?.(grant);
      });
    }
    return { time, answer };
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    const renewed = await this.backend.renew(claims);
    this.#served('renewal');
    return renewed;
  }

  async note(...hint: Parameters<Hints['write']>): Promise<void> {
    await this.backend.hints!.write(...hint);
    this.#served('note');
  }

  #served(what: 'attempt' | 'renewal' | 'note'): void {
    const { onServed } = this;
    if (onServed?.what !== what) return;
    this.onServed = undefined;
    onServed.next();
  }

  release(handle: Handle): Promise<Release> {
    this.#leaves(handle);
    return this.backend.release(handle);
  }

  store(handle: Handle, value: NewValue): Promise<boolean> {
    this.#leaves(handle);
    return this.backend.store!(handle, value);
  }

  #leaves({ id }: Handle): void {
    this.onFreed(id);
    this.#listeners.delete(id);
  }

  /** For engines that are asked to watch, one claim at a time. */
  async listen(id: string, listener: Wake): Promise<void> {
    this.#listeners.set(id, listener);
  }

  async evict(key: string, token: bigint): Promise<boolean> {
    const evicted = await this.backend.evict!(key, token);
    if (evicted) this.onEvicted(key, token);
    return evicted;
  }

  async standings(prefix: string): Promise<QueueEntry[]> {
    const found: QueueEntry[] = [];
    for await (const standing of this.backend.inspect!(prefix)) found.push(standing);
    return found;
  }
}

/** The engine as one process reaches it. */
export class Client implements Backend {
  readonly name = 'simulated';
  readonly traits: Traits;
  readonly watch: Backend['watch'];
  onCall: () => void = () => {};
  readonly hints: Hints;
  readonly values: Values;
  readonly #engine: Engine;
  readonly #network: Wire;
  readonly #process: Process;
  readonly #waiting: BufferedClaims;
  /** The engine's time, when an answer came that told it. A lower bound: the way back took some time. */
  #known: { readonly time: number; readonly at: number } | undefined;
  #told: { readonly run: string; readonly named: Run } | undefined;
  #closed = false;

  constructor(engine: Engine, network: Wire, process: Process, traits: Pick<Traits, 'wakes' | 'tokenBlocks'>) {
    this.traits = { ...engine.backend.traits, ttl: { min: 10, max: 600_000 }, ...traits };
    this.#engine = engine;
    this.#network = network;
    this.#process = process;
    this.#waiting = new BufferedClaims(process.clock);
    this.hints = {
      read: (name) => this.#call(() => engine.backend.hints!.read(name)),
      write: (name, text, ttl) => this.#call(() => engine.note(name, text, ttl)),
    };
    this.values = {
      look: (key) => this.#call(() => engine.backend.values!.look(key)),
      forget: (key) => this.#call(() => engine.backend.values!.forget(key)),
    };
    this.watch = { buffered: this.#buffered, watch: this.#watch, never: undefined }[traits.wakes];
  }

  get watches(): number {
    return this.#waiting.size;
  }

  /** The run is asked once for each connection, and a connection ends with the run of the server. */
  incarnation(): Run | Promise<Run> {
    return this.#told?.run === this.#engine.run ? this.#told.named : this.#learnRun();
  }

  async #learnRun(): Promise<Run> {
    const told = await this.#call(async () => ({ run: this.#engine.run, named: this.#engine.named }));
    if (told.run === this.#engine.run) this.#told = told;
    return told.named;
  }

  async attempt(claim: Claim): Promise<Attempt> {
    const notAfter = this.#notAfter(claim);
    return this.#learn(await this.#call(() => this.#engine.attempt(claim, notAfter, this.#mail(claim))));
  }

  renew(claims: readonly Claim[]): ReturnType<Backend['renew']> {
    return this.#call(() => this.#engine.renew(claims));
  }

  async release(handle: Handle, next?: Claim): Promise<Release> {
    const notAfter = next && this.#notAfter(next);
    const { answer, tried } = await this.#call(async () => {
      const answer = await this.#engine.release(handle);
      return { answer, tried: next && (await this.#engine.attempt(next, notAfter!, this.#mail(next))) };
    });
    return tried ? { ...answer, next: this.#learn(tried) } : answer;
  }

  store(handle: Handle, value: NewValue): Promise<boolean> {
    return this.#call(() => this.#engine.store!(handle, value));
  }

  async *inspect(prefix: string): AsyncIterable<QueueEntry> {
    yield* await this.#call(() => this.#engine.standings(prefix));
  }

  evict(key: string, token: bigint): Promise<boolean> {
    return this.#call(() => this.#engine.evict(key, token));
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #call<T>(work: () => Promise<T>): Promise<T> {
    this.onCall();
    if (this.#closed) return Promise.reject(new Error('the client is closed'));
    return this.#network.call(this.#process, this.#engine.machine, work);
  }

  #notAfter({ within }: Claim): number {
    if (!this.#known) return Number.NEGATIVE_INFINITY;
    return this.#known.time + (this.#process.clock.now() - this.#known.at) + within;
  }

  #learn({ time, answer }: Timed<Attempt>): Attempt {
    this.#known = { time, at: this.#process.clock.now() };
    return answer;
  }

  readonly #mail = (claim: Claim) => (grant?: Grant) => {
    if (this.traits.wakes === 'buffered') this.#tell(claim, grant);
  };

  #tell({ id }: Claim, grant?: Grant): void {
    this.#network.tell(this.#process, this.#engine.machine, () => {
      this.#waiting.addressee(id)?.wake(grant);
    });
  }

  readonly #buffered = (claim: Claim, wake: Wake, age?: number): AsyncDisposable =>
    this.#waiting.watchSince(claim, wake, age);

  /** Arming takes a round trip; what it tells is only that it is time to ask. */
  readonly #watch = async (claim: Claim, wake: Wake): Promise<AsyncDisposable> => {
    await this.#call(() => this.#engine.listen(claim.id, () => this.#tell(claim)));
    return this.#buffered(claim, wake);
  };
}
