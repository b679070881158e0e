import type { QueueEntry } from '../core/contract/traits.ts';
import { linesOf, type WaitsClaim } from '../waits/claims.ts';
import { Suspects } from '../waits/suspects.ts';
import { type KeyLine, processOf } from './claim.ts';
import type { Deadlock } from './wire.ts';

/** How many keys of deadlocks get a close look, to see whether the deadlocks last. */
const MOST_KEYS = 32;

/** Finds claims that wait for each other without an end, and tells them when later looks at each of their keys confirm it. */
export class Deadlocks {
  readonly #suspects = new Suspects();
  #told: readonly Deadlock[] = [];

  get told(): readonly Deadlock[] {
    return this.#told;
  }

  /** The keys that need another look. */
  get keys(): readonly string[] {
    return this.#suspects.keys.slice(0, MOST_KEYS);
  }

  /** Called after each look. */
  look(lines: Iterable<KeyLine>): void {
    const contested = new Map([...lines].filter(({ waiters }) => waiters.length > 0).map((line) => [line.key, line]));
    const all = linesOf([...contested.values()].flatMap(standingsOf));
    const found = this.#suspects.look(all, ({ key }) => {
      const { at } = contested.get(key)!;
      return { began: at, ended: at };
    });
    this.#told = found.map(({ claims: ids, cycle }) => {
      return { steps: cycle.map((id) => stepOf(all.claims.get(id)!)), claims: ids.length };
    });
  }
}

const stepOf = (claim: WaitsClaim): Deadlock['steps'][number] => {
  const { label, key, held, token } = claim;
  return { label, key, held, token: `${token}`, process: processOf(claim) };
};

const standingsOf = ({ key, holders, waiters, at }: KeyLine): QueueEntry[] =>
  [...holders, ...waiters].map(({ token, units, capacity, label, origin, expires }, position) => {
    return {
      key,
      held: position < holders.length,
      position,
      token,
      units,
      capacity,
      label,
      origin,
      remaining: expires - at,
    };
  });
