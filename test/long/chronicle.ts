import type { Stand } from '../leading/instance.ts';
import type { Told } from '../leading/leader.worker.ts';
import { overlaps, type Reign } from '../leading/referee.ts';

interface Term {
  readonly stand: Stand;
  readonly token: bigint;
  readonly from: number;
  /** Infinity while it lasts. */
  to: number;
}

const FOREVER = 2 ** 31 - 1;
export const now = (): number => Number(process.hrtime.bigint()) / 1e6;

/** All terms of one engine, as its instances tell of them. */
export class Chronicle {
  readonly #terms: Term[] = [];

  follow(stand: Stand): void {
    const each = async (what: Told['what'], hear: (told: Told) => void): Promise<void> => {
      for (;;) hear(await stand.heard(what, 'long', FOREVER)); // until its process is dead
    };
    each('elected', ({ token, at }) => this.#terms.push({ stand, token: token!, from: at, to: Infinity })).catch(
      () => {},
    );
    each('settled', ({ token, at, held, until }) => this.#end(stand, held ? at : until!, token)).catch(() => {});
  }

  /** Its process is dead: it believes in nothing any more. */
  died(stand: Stand, at: number): void {
    this.#end(stand, at);
  }

  get leader(): Stand | undefined {
    return this.#terms.find(({ to }) => to === Infinity)?.stand;
  }

  get reigns(): readonly Reign[] {
    return this.#terms;
  }

  /** What is wrong, and the longest time without a leader. */
  verdict(bound: number): { readonly wrong: readonly string[]; readonly longest: number } {
    const sorted = [...this.#terms].sort((a, b) => a.from - b.from);
    let led = sorted[0]?.from ?? 0;
    const gaps = sorted.map(({ token, from, to }) => {
      const gap = { token, ms: Math.max(0, from - led) };
      led = Math.max(led, to);
      return gap;
    });
    if (led < Infinity) gaps.push({ token: 0n, ms: now() - led });
    const long = gaps
      .filter(({ ms }) => ms > bound)
      .map(({ token, ms }) => `${ms} ms without a leader before ${token}`);
    return { wrong: [...overlaps(this.#terms), ...long], longest: Math.max(0, ...gaps.map(({ ms }) => ms)) };
  }

  #end(stand: Stand, at: number, token?: bigint): void {
    for (const term of this.#terms)
      if (term.stand === stand && term.to === Infinity && (token === undefined || term.token === token)) term.to = at;
  }
}
