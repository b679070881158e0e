import { type Cancel, type Claim, type Clock, milliseconds, type Renewal, withLimit } from '../../core/index.ts';
import { repeat } from '../shared/repeat.ts';
import { isUnsent, type PoolRow } from './pool.ts';
import { FOREVER, type Queues } from './queues.ts';
import * as sql from './sql.generated.ts';
import { nameList, portions } from './statements.ts';
import { micro } from './stored-queue.ts';
import type { Table } from './table.ts';

/** The longest wait for an answer over the connection of our own, ms; and how long renewals go over the pool after a failure, ms. */
const MAX_WAIT_MS = 1_000;
const RETRY_MS = 5_000;

const late = (): Error => new Error(`no answer within ${MAX_WAIT_MS} ms`);

/** Sends renewals over a connection of our own, if there is one: over the pool they wait behind statements of the application. */
export class Renewals {
  readonly #queues: Queues;
  readonly #own: Queues | undefined;
  readonly #clock: Clock;
  #notBefore = Number.NEGATIVE_INFINITY;

  /** @param own the same queues, over the connection of our own; undefined: there is none */
  constructor(queues: Queues, own: Queues | undefined, clock: Clock) {
    this.#queues = queues;
    this.#own = own;
    this.#clock = clock;
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    await this.#queues.table.identify();
    const answers = new Map<Claim, Renewal>();
    let failure: unknown;
    for (const portion of [...rounds(claims)].flatMap((round) => [...portions(round)])) {
      const before = this.#notBefore;
      try {
        const left = await this.#untouched(portion);
        for (const claim of portion) answers.set(claim, { validFor: claim.ttl });
        await this.#renewEach(left, answers);
      } catch (error) {
        failure = error;
        if (this.#notBefore === before) break; // the pool failed, and there is no other way
      }
    }
    if (answers.size === 0 && failure) throw failure;
    return claims.map((claim) => answers.get(claim) ?? 'unknown');
  }

  close(): void {
    this.#own?.table.server.close(true);
  }

  /** Renews the claims, and gives those that one write cannot renew. It uses writes alone: after a fail-over, a read may reach the old primary. */
  async #untouched(claims: readonly Claim[]): Promise<readonly Claim[]> {
    if ((await this.#touch(claims)) === claims.length) return [];
    if (claims.length === 1) return claims;
    const half = claims.length >> 1;
    const first = await this.#untouched(claims.slice(0, half));
    return [...first, ...(await this.#untouched(claims.slice(half)))];
  }

  /**
   * Renews each claim by a step of its queue: one after the other over the connection of our own, so that at most one step is there when the next
   * call comes. The claims that are left after `MAX_WAIT_MS` are renewed over the pool.
   */
  async #renewEach(claims: readonly Claim[], answers: Map<Claim, Renewal>): Promise<void> {
    const until = this.#clock.now() + MAX_WAIT_MS;
    const renew = async (queues: Queues, claim: Claim): Promise<void> => {
      const answer = withLimit(queues.renew(claim), MAX_WAIT_MS, late, this.#clock);
      answers.set(claim, await answer.catch(() => 'unknown'));
    };
    const rest = [...claims];
    while (this.#usableOwn && rest.length > 0 && this.#clock.now() < until) await renew(this.#usableOwn, rest.shift()!);
    await Promise.all(rest.map((claim) => renew(this.#queues, claim)));
  }

  async #touch(claims: readonly Claim[]): Promise<number> {
    const touch = (queues: Queues) => queues.touch(claims, FOREVER, '0');
    const own = this.#usableOwn;
    if (!own) return touch(this.#queues);
    try {
      return await withLimit(touch(own), MAX_WAIT_MS, late, this.#clock);
    } catch (error) {
      this.#notBefore = this.#clock.now() + RETRY_MS;
      // What was sent may still arrive, and shorten a lease that is confirmed since.
      if (!isUnsent(error)) throw error;
      return touch(this.#queues);
    }
  }

  get #usableOwn(): Queues | undefined {
    return this.#clock.now() < this.#notBefore ? undefined : this.#own;
  }
}

/** Makes groups of claims: no key is twice in a group, and each group is in the order of the keys' bytes. */
function rounds(claims: readonly Claim[]): Iterable<Claim[]> {
  const sorted = [...claims].sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
  const firsts = new Map(sorted.map(({ key }, at) => [key, at] as const).reverse());
  return Map.groupBy(sorted, ({ key }, at) => at - firsts.get(key)!).values();
}

const IDLE_MS = 600_000;
const SWEEP_MS = 300_000;
/** The most rows that one statement removes. */
const MAX_ROWS = 256;

/** Removes the rows of keys that nobody uses any more. In each interval, one of all processes does so. */
export class Sweeper {
  readonly #queues: Queues;
  readonly #table: Table;
  readonly #idle: string;
  readonly #stop: Cancel | undefined;
  #closed = false;

  constructor(queues: Queues, clock: Clock, idle = IDLE_MS, sweep = SWEEP_MS) {
    this.#queues = queues;
    this.#table = queues.table;
    this.#idle = micro(milliseconds(idle, 'idle'));
    const interval = milliseconds(sweep, 'sweep');
    const pause = () => interval * (0.75 + clock.random() / 2);
    if (interval > 0) this.#stop = repeat(clock, pause, () => this.#turn(interval));
  }

  /**
   * Removes the rows of idle keys. If such a row has claims, removes the expired claims; a later sweep removes the row.
   * @returns how many rows it removed
   * @throws the first error of a step, after it has looked at all rows
   */
  async sweep(): Promise<number> {
    await this.#table.ready();
    let swept = 0;
    const failures: unknown[] = [];
    for (let after: Buffer = Buffer.alloc(0); !this.#closed; ) {
      const [page] = await this.#table.read(sql.page, { after });
      const last = page?.last as Buffer | null;
      if (last === null) break;
      const rows = await this.#table.read(sql.idle, { after, last, idle: this.#idle });
      const isFree = ({ queue }: PoolRow): boolean => (queue as Buffer).length === 0;
      swept += await this.#remove(rows.filter(isFree));
      for (const row of rows)
        if (!isFree(row)) await this.#queues.step(row.name as Buffer, () => {}).catch((error) => failures.push(error));
      after = last;
    }
    if (failures.length > 0) throw failures[0];
    return swept;
  }

  /** First raises the floor of the tokens, once for all rows: each change costs a commit. Then removes few rows at a time, so nobody waits long. */
  async #remove(free: readonly PoolRow[]): Promise<number> {
    if (free.length === 0) return 0;
    const token = `${free.map((row) => BigInt(row.token as number | string)).reduce((a, b) => (a > b ? a : b))}`;
    await this.#table.write(sql.floor, { token });
    let removed = 0;
    for (const portion of portions(free, MAX_ROWS)) {
      const names = nameList(portion.map(({ name }) => name as Buffer));
      removed += (await this.#table.write(sql.sweep, { token, idle: this.#idle }, names)).affectedRows;
    }
    return removed;
  }

  close(): void {
    this.#closed = true;
    this.#stop?.();
  }

  async #turn(interval: number): Promise<void> {
    await this.#table.ready();
    const { affectedRows } = await this.#table.write(sql.turn, { interval: micro(interval) });
    if (affectedRows > 0) await this.sweep();
  }
}
