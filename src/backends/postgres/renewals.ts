import type { Claim, Renewal } from '../../core/backend.ts';
import type { Clock } from '../../core/clock.ts';
import { invalid } from '../../core/errors.ts';
import { type Dial, dialLike, type PgPool } from './client.ts';
import type { Server } from './server.ts';
import { Session } from './session.ts';
import { answerOf } from './statements.ts';

/** ms after a failure in which no other connection of our own is made: the pool does meanwhile. */
const AGAIN = 5_000;

/** How the connection for renewals is made. @throws LockError `LOCK_INVALID` where that is not known */
export function ownDial(pool: PgPool, connect: Dial | false | undefined): Dial {
  const dial = connect || dialLike(pool);
  if (!dial)
    throw invalid(
      'this pool does not tell how to open a connection like its own; give `connect` beside `ownConnection`',
    );
  return dial;
}

/** Renewals: over a connection of our own where there is one, else over the pool. */
export class Renewals {
  readonly #server: Server;
  readonly #statement: string;
  readonly #clock: Clock;
  readonly #dial: Dial | undefined;
  #session: Promise<Session | undefined> | undefined;
  #notBefore = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(server: Server, named: (script: string) => string, clock: Clock, dial: Dial | undefined) {
    this.#server = server;
    this.#statement = named('CALL {commit_renew}($1, NULL)');
    this.#clock = clock;
    this.#dial = dial;
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    const asked = claims.map(({ key, id, ttl }) => ({ key: Buffer.from(key).toString('hex'), id, ttl }));
    const values = [JSON.stringify(asked)];
    const session = await this.#own();
    const [row] = session
      ? await session.query(this.#statement, values)
      : await this.#server.send(this.#statement, values, 'a renewal');
    const good = new Set(answerOf(row!).split(','));
    return claims.map(({ ttl }, index) => (good.has(`${index + 1}`) ? { validFor: ttl } : 'gone'));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await (await this.#session)?.end();
  }

  #own(): Promise<Session | undefined> | undefined {
    if (!this.#dial || this.#closed || this.#clock.now() < this.#notBefore) return undefined;
    this.#session ??= Session.open(this.#dial, this.#clock).then(
      (session) => {
        session.ended.addEventListener('abort', () => this.#gone(0), { once: true });
        return session;
      },
      () => this.#gone(AGAIN),
    );
    return this.#session;
  }

  #gone(pause: number): undefined {
    this.#notBefore = this.#clock.now() + pause;
    this.#session = undefined;
  }
}
