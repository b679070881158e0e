import { type Demand, EXCLUSIVE, SHARED } from '../../src/core/contract/admission.ts';
import type { Backend, Claim } from '../../src/core/contract/backend.ts';
import { systemClock } from '../../src/core/contract/clock.ts';
import type { FaultProxy } from './proxy.ts';

/** Kinds of waiters, and who holds the key meanwhile. */
export const IDLE_LINES: readonly (readonly [kind: string, holder: Demand, waiter: Demand])[] = [
  ['mutexes', EXCLUSIVE, EXCLUSIVE],
  ['readers behind a writer', EXCLUSIVE, SHARED],
  ['permits', { units: 2, capacity: 2 }, { units: 1, capacity: 2 }],
];

/** Asked side by side: under core they are spread over two seconds. */
const AT_ONCE = 25;

/** So many may join before those who stand already give a sign of life. */
const KEPT_ALIVE = 50;

async function eachOf<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < items.length; at += AT_ONCE) await Promise.all(items.slice(at, at + AT_ONCE).map(act));
}

/** Waiters of one process on one key, who stand and watch as core lets them, and ask by no timer. */
export class IdleLine implements AsyncDisposable {
  readonly #backend: Backend;
  readonly #proxy: FaultProxy;
  readonly #claims: readonly Claim[];
  readonly #watches: AsyncDisposable[] = [];

  private constructor(backend: Backend, proxy: FaultProxy, claims: readonly Claim[]) {
    this.#backend = backend;
    this.#proxy = proxy;
    this.#claims = claims;
  }

  static async of(
    count: number,
    backend: Backend,
    proxy: FaultProxy,
    [kind, holder, waiter]: (typeof IDLE_LINES)[number],
    ttl: number,
  ): Promise<IdleLine> {
    const common = {
      key: `${count} ${kind}`,
      ttl,
      queue: true,
      tokenCount: 1,
      within: 30_000,
      label: 'host 1, pid 4711',
    };
    const demand = [holder, ...Array.from({ length: count }, () => waiter)];
    const claims = demand.map((wish) => ({ ...common, ...wish, id: systemClock.id() }));
    const line = new IdleLine(backend, proxy, claims);
    for (const [at, claim] of claims.entries()) {
      if (at % KEPT_ALIVE === 0) await eachOf(claims.slice(1, at), (earlier) => backend.attempt(earlier));
      const { granted } = await backend.attempt(claim);
      if (granted !== (claim === claims[0])) throw new Error(`the line of ${count} ${kind} is not as it should be`);
      if (!granted) line.#watches.push(await backend.watch!(claim, () => {}));
    }
    return line;
  }

  get #passed(): number {
    return this.#proxy.passed.up + this.#proxy.passed.down;
  }

  /** Every waiter gives its sign of life, as it does every two seconds. Bytes on the wire for each. */
  async signsOfLife(): Promise<number> {
    const waiting = this.#claims.slice(1);
    const before = this.#passed;
    await eachOf(waiting, (claim) => this.#backend.attempt(claim));
    return (this.#passed - before) / waiting.length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const watch of this.#watches) await watch[Symbol.asyncDispose]();
    await eachOf(this.#claims.toReversed(), (claim) => this.#backend.release(claim));
  }
}
