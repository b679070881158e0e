import type { Claim, Renewal } from '../../core/index.ts';
import { isReadOnly } from './errors.ts';
import type { Dial } from './pool.ts';
import type { Server } from './server.ts';
import { Session } from './session.ts';
import { CALLS, take } from './statements.ts';

/** After a failure no other connection of our own is made for so long. Renewals go over the pool meanwhile. */
const RETRY_MS = 5_000;

/** Renewals: over the connection that listens, else over one of our own where that can be had, else over the pool. */
export class Renewals {
  readonly #server: Server;
  readonly #dial: Dial | undefined;
  readonly #listening: () => Session | undefined;
  #session: Promise<Session | undefined> | undefined;
  #notBefore = Number.NEGATIVE_INFINITY;
  #closed = false;

  /**
   * @param dial makes the connection of our own; undefined: all go over the pool
   * @param listening gives the connection that listens, while there is one
   */
  constructor(server: Server, dial: Dial | undefined, listening: () => Session | undefined) {
    this.#server = server;
    this.#dial = dial;
    this.#listening = listening;
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    const asked = claims.map(({ key, id, ttl }) => ({ key: Buffer.from(key).toString('hex'), id, ttl }));
    const values = [JSON.stringify(asked)];
    const session = (this.#dial && this.#listening()) ?? (await this.#own());
    const overPool = () => take(this.#server, 'renew', values);
    const overOwn = async (own: Session) =>
      String((await own.query(this.#server.named(CALLS.renew), values))[0]!.answer);
    const answer = await (session ? overOwn(session) : overPool()).catch((error) => {
      if (!session || !isReadOnly(error)) throw error;
      return overPool();
    });
    const good = new Set(answer.split(','));
    return claims.map(({ ttl }, index) => (good.has(`${index + 1}`) ? { validFor: ttl } : 'gone'));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await (await this.#session)?.end();
  }

  #own(): Promise<Session | undefined> | undefined {
    const { clock } = this.#server;
    if (!this.#dial || this.#closed || clock.now() < this.#notBefore) return undefined;
    this.#session ??= Session.open(this.#dial, clock).then(
      (session) => {
        session.ended.addEventListener('abort', () => this.#postpone(0), { once: true });
        return session;
      },
      () => this.#postpone(RETRY_MS),
    );
    return this.#session;
  }

  #postpone(pause: number): undefined {
    this.#notBefore = this.#server.clock.now() + pause;
    this.#session = undefined;
  }
}
