import { type Claim, type Clock, isLockError, type Renewal, withLimit } from '../../core/index.ts';
import type { PoolOfOne } from './pool.ts';
import { FOREVER, type Queues } from './queues.ts';
import { Server } from './server.ts';
import { portions } from './statements.ts';

/** Longest wait for an answer over the connection of our own; and ms after a failure in which the pool is asked instead. */
const MAX_WAIT_MS = 1_000;
const RETRY_MS = 5_000;

/** Renewals: over a connection of our own where there is one. Over the pool they wait behind the application's statements. */
export class Renewals {
  readonly #queues: Queues;
  readonly #pool: PoolOfOne | undefined;
  readonly #own: Server | undefined;
  readonly #clock: Clock;
  #notBefore = Number.NEGATIVE_INFINITY;

  /** @param pool of our own connection */
  constructor(queues: Queues, pool: PoolOfOne | undefined, clock: Clock) {
    this.#queues = queues;
    this.#pool = pool;
    this.#own = pool && new Server(pool, clock);
    this.#clock = clock;
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    await this.#queues.table.identify();
    if (!this.#own || this.#clock.now() < this.#notBefore) return this.#renewAll(claims);
    try {
      const late = () => new Error(`no answer within ${MAX_WAIT_MS} ms`);
      return await withLimit(this.#renewAll(claims, this.#own), MAX_WAIT_MS, late, this.#clock);
    } catch (error) {
      if (isLockError(error)) throw error;
      this.#notBefore = this.#clock.now() + RETRY_MS;
      return this.#renewAll(claims);
    }
  }

  close(): void {
    this.#own?.close();
    this.#pool?.end(() => {});
  }

  async #renewAll(claims: readonly Claim[], server?: Server): Promise<Renewal[]> {
    const gone = new Set<Claim>();
    for (const portion of [...rounds(claims)].flatMap((round) => [...portions(round)]))
      for (const claim of await this.#notAlive(portion, server)) gone.add(claim);
    return claims.map((claim) => (gone.has(claim) ? 'gone' : { validFor: claim.ttl }));
  }

  /** Those that are not alive. By writes alone: after a fail-over, a read may still come to the server that was the primary. */
  async #notAlive(claims: readonly Claim[], server?: Server): Promise<readonly Claim[]> {
    if ((await this.#queues.touch(claims, FOREVER, '0', server)) === claims.length) return [];
    if (claims.length === 1) return claims;
    const half = claims.length >> 1;
    const first = await this.#notAlive(claims.slice(0, half), server);
    return [...first, ...(await this.#notAlive(claims.slice(half), server))];
  }
}

/** The claims in groups in which no key is there twice, each group in the order of the keys' bytes. */
function rounds(claims: readonly Claim[]): Iterable<Claim[]> {
  const sorted = [...claims].sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
  const firsts = new Map(sorted.map(({ key }, at) => [key, at] as const).reverse());
  return Map.groupBy(sorted, ({ key }, at) => at - firsts.get(key)!).values();
}
