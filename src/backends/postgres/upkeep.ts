import { CallTimeouts, type Cancel, type Claim, type Renewal, Sleeper } from '../../core/index.ts';
import { repeat } from '../shared/repeat.ts';
import { isReadOnly } from './errors.ts';
import type { Dial } from './pool.ts';
import type { Server } from './server.ts';
import { Session } from './session.ts';
import { CALLS, take } from './statements.ts';

/** The longest wait for a connection of our own, and for its answer, ms; and how long renewals go over the pool after a failure, ms. */
const MAX_WAIT_MS = 1_000;
const RETRY_MS = 5_000;

/** Sends renewals over the connection that listens; else over one of our own, if there is a way to open it; else over the pool. */
export class Renewals {
  readonly #server: Server;
  readonly #dial: Dial | undefined;
  readonly #listening: () => Session | undefined;
  readonly #timeouts: CallTimeouts;
  #session: Promise<Session | undefined> | undefined;
  #notBefore = Number.NEGATIVE_INFINITY;
  #closed = false;

  /** @param dial opens a connection of our own; undefined: all renewals go over the pool @param listening gives the connection that listens */
  constructor(server: Server, dial: Dial | undefined, listening: () => Session | undefined) {
    this.#server = server;
    this.#dial = dial;
    this.#listening = listening;
    this.#timeouts = new CallTimeouts(server.clock);
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    const asked = claims.map(({ key, id, ttl }) => ({ key: Buffer.from(key).toString('hex'), id, ttl }));
    const values = [JSON.stringify(asked)];
    const session = await this.#own();
    const overPool = () => take(this.#server, 'renew', values);
    const overOwn = async (own: Session) =>
      String((await own.query(this.#server.named(CALLS.renew), values))[0]!.answer);
    const answer = await (session ? this.#bound(overOwn(session)) : overPool()).catch((error) => {
      if (!session || !isReadOnly(error)) throw error;
      return overPool();
    });
    const good = new Set(answer.split(','));
    return claims.map(({ ttl }, index) => (good.has(`${index + 1}`) ? { validFor: ttl } : 'gone'));
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#timeouts.endTimers();
    await (await this.#session)?.end();
  }

  async #own(): Promise<Session | undefined> {
    const { clock } = this.#server;
    if (!this.#dial || this.#closed || clock.now() < this.#notBefore) return undefined;
    const listening = this.#listening();
    if (listening) return listening;
    this.#session ??= Session.open(this.#dial, clock).then(
      (session) => {
        session.ended.addEventListener('abort', () => this.#postpone(0), { once: true });
        return session;
      },
      () => this.#postpone(RETRY_MS),
    );
    return this.#bound(this.#session).catch(() => undefined);
  }

  /** A renewal that was sent but not answered goes nowhere else: it may still arrive, and shorten a lease that is confirmed since. */
  #bound<T>(answer: Promise<T>): Promise<T> {
    return this.#timeouts.bound(answer, MAX_WAIT_MS, () => {
      this.#notBefore = this.#server.clock.now() + RETRY_MS;
      return new Error(`no answer within ${MAX_WAIT_MS} ms`);
    });
  }

  #postpone(pause: number): undefined {
    this.#notBefore = this.#server.clock.now() + pause;
    this.#session = undefined;
  }
}

/** ms between two sweeps by any processes; and ms without use after which a sweep removes a key. */
const SWEEP_MS = 60_000;
export const IDLE_MS = 600_000;
/** The shortest pause between two parts of a sweep, ms. A pause is as long as the part before, so a sweep takes at most half of the server's time. */
const MIN_REST_MS = 2;

/** Removes the keys that nobody uses any more, part by part. About once a minute, one of all processes goes through the table. */
export class Sweeper {
  readonly #server: Server;
  readonly #sleepers = new Set<Sleeper>();
  #stop: Cancel = () => {};
  #closed = false;

  constructor(server: Server) {
    this.#server = server;
  }

  /** Each process asks about once a minute, and the table lets one of them sweep. */
  begin(): void {
    const { clock } = this.#server;
    if (!this.#closed) {
      const pause = () => SWEEP_MS * (0.5 + clock.random());
      this.#stop = repeat(clock, pause, () => this.sweep(IDLE_MS, SWEEP_MS));
    }
  }

  /**
   * @param idle the time without use after which a key is removed, ms
   * @param every the least time since the last sweep of any process, ms: before that, does nothing; 0: sweeps now, since a caller waits
   * @returns how many keys were removed
   */
  async sweep(idle: number, every: number): Promise<number> {
    const { clock } = this.#server;
    const sleeper = new Sleeper(clock);
    this.#sleepers.add(sleeper);
    try {
      let removed = 0;
      for (let page: string | undefined = '0'; page && !this.#closed; ) {
        const began = clock.now();
        const answer = await take(this.#server, 'sweep', [every, idle, page]);
        const [gone, next] = answer.split(',');
        removed += Number(gone);
        page = next;
        if (page) await sleeper.sleep(Math.max(MIN_REST_MS, clock.now() - began), every > 0);
      }
      return removed;
    } finally {
      this.#sleepers.delete(sleeper);
    }
  }

  close(): void {
    this.#closed = true;
    this.#stop();
    for (const sleeper of this.#sleepers) sleeper.wake();
  }
}
