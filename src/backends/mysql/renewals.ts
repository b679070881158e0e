import type { Claim, Renewal } from '../../core/backend.ts';
import { CallTimeouts } from '../../core/call-timeouts.ts';
import type { Clock } from '../../core/clock.ts';
import { isLockError } from '../../core/errors.ts';
import type { Line, Lines } from './lines.ts';
import { parse } from './place.ts';
import type { PoolOfOne } from './pool.ts';
import { portions } from './statements.ts';

/** Longest wait for an answer over the connection of our own; and ms after a failure in which the pool is asked instead. */
const PATIENCE = 1_000;
const AGAIN = 5_000;
/** A renewal that comes late finds its claim gone, or does no harm. */
const FOREVER = `${Number.MAX_SAFE_INTEGER}`;

/** How often those that stand are renewed again. */
const TRIES = 4;

/** Renewals: over a connection of our own where there is one. Over the pool they wait behind the application's statements. */
export class Renewals {
  readonly #lines: Lines;
  readonly #pool: PoolOfOne | undefined;
  readonly #own: Lines | undefined;
  readonly #clock: Clock;
  readonly #timeouts: CallTimeouts;
  #notBefore = Number.NEGATIVE_INFINITY;

  /** @param pool of our own connection */
  constructor(lines: Lines, pool: PoolOfOne | undefined, clock: Clock) {
    this.#lines = lines;
    this.#pool = pool;
    this.#own = pool && lines.over(pool);
    this.#clock = clock;
    this.#timeouts = new CallTimeouts(clock);
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    await this.#lines.table.known();
    return (await this.#overOwn(claims)) ?? renewed(this.#lines, claims);
  }

  close(): void {
    this.#timeouts.rest();
    this.#own?.table.server.close();
    this.#pool?.end(() => {});
  }

  /** Undefined when there is no such connection, or it is away. */
  async #overOwn(claims: readonly Claim[]): Promise<Renewal[] | undefined> {
    if (!this.#own || this.#clock.now() < this.#notBefore) return undefined;
    try {
      const late = () => new Error(`no answer within ${PATIENCE} ms`);
      return await this.#timeouts.bound(renewed(this.#own, claims), PATIENCE, late);
    } catch (error) {
      if (isLockError(error)) throw error;
      this.#notBefore = this.#clock.now() + AGAIN;
      return undefined;
    }
  }
}

async function renewed(lines: Lines, claims: readonly Claim[]): Promise<Renewal[]> {
  const answers = new Map<Claim, Renewal>();
  for (const portion of [...rounds(claims)].flatMap((round) => [...portions(round)]))
    for (const [claim, answer] of await renewedTogether(lines, portion)) answers.set(claim, answer);
  return claims.map((claim) => answers.get(claim)!);
}

/**
 * A statement says only how many it renewed, so nothing is known of each before one has renewed all that it was asked for. What stands
 * was not always renewed: the server's clock may have been set back since.
 */
async function renewedTogether(lines: Lines, claims: readonly Claim[]): Promise<Map<Claim, Renewal>> {
  const answers = new Map<Claim, Renewal>(claims.map((claim) => [claim, 'unknown']));
  let standing = claims;
  for (let tries = 0; standing.length > 0 && tries < TRIES; tries++) {
    if ((await lines.touch(standing, FOREVER, '0')) === standing.length) {
      for (const claim of standing) answers.set(claim, { validFor: claim.ttl });
      break;
    }
    const found = await lines.read(standing.map(({ key }) => key));
    const stay = standing.filter((claim) => stands(claim, found.get(claim.key)));
    for (const claim of standing) if (!stay.includes(claim)) answers.set(claim, 'gone');
    standing = stay;
  }
  return answers;
}

const stands = ({ id }: Claim, line: Line | undefined): boolean =>
  line !== undefined && parse(line.text).some((place) => place.id === id && place.until > line.now);

/** The claims in groups in which no key is there twice, each group in the order of the keys' bytes. */
function* rounds(claims: readonly Claim[]): Generator<Claim[]> {
  let rest = [...claims].sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
  while (rest.length > 0) {
    const firsts = rest.filter(({ key }, i) => rest[i - 1]?.key !== key);
    yield firsts;
    const taken = new Set(firsts);
    rest = rest.filter((claim) => !taken.has(claim));
  }
}
