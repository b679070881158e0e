import type { Claim, Renewal } from '../../core/index.ts';
import { isReadOnly } from './errors.ts';
import type { Dial } from './pool.ts';
import type { Server } from './server.ts';
import { Session } from './session.ts';
import { answerOf } from './statements.ts';

/** As text: postgres.js would write the text of a parameter of type json as JSON once more. */
const RENEW = 'CALL {commit_renew}($1::text::json, NULL)';
/** ms after a failure in which no other connection of our own is made. Renewals go over the pool meanwhile. */
const AGAIN = 5_000;

/** Renewals: over a connection of our own where there is one, else over the pool. */
export class Renewals {
  readonly #server: Server;
  readonly #dial: Dial | undefined;
  #session: Promise<Session | undefined> | undefined;
  #notBefore = Number.NEGATIVE_INFINITY;
  #closed = false;

  /** @param dial makes the connection of our own */
  constructor(server: Server, dial: Dial | undefined) {
    this.#server = server;
    this.#dial = dial;
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    const asked = claims.map(({ key, id, ttl }) => ({ key: Buffer.from(key).toString('hex'), id, ttl }));
    const values = [JSON.stringify(asked)];
    const session = await this.#own();
    const overPool = () => this.#server.send(RENEW, values, 'a renewal');
    const [row] = await (session?.query(this.#server.named(RENEW), values) ?? overPool()).catch((error) => {
      if (!session || !isReadOnly(error)) throw error;
      return overPool();
    });
    const good = new Set(answerOf(row!).split(','));
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
      () => this.#postpone(AGAIN),
    );
    return this.#session;
  }

  #postpone(pause: number): undefined {
    this.#notBefore = this.#server.clock.now() + pause;
    this.#session = undefined;
  }
}
