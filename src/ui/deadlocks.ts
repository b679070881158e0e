import type { Standing } from '../core/traits.ts';
import { linesOf, type WaitsClaim } from '../waits/claims.ts';
import { deadlocksIn } from '../waits/deadlocks.ts';
import { type Claim, type Line, processOf } from './claim.ts';
import type { Deadlock } from './wire.ts';

/** Keys of deadlocks that are looked at closely, to see whether they are still there. */
const MOST_KEYS = 32;

interface Suspect {
  /** When it was found first. */
  readonly at: number;
  readonly keys: readonly string[];
  readonly deadlock: Deadlock;
}

/**
 * Those who wait for each other without an end. Keys are looked at one after the other, so what is found need not have been there at
 * any one moment; but who holds or waits in two looks did so all the time between them. So a deadlock is told when each of its keys
 * was looked at again, and it is still there.
 */
export class Deadlocks {
  #suspects: ReadonlyMap<string, Suspect> = new Map();
  #told: readonly Deadlock[] = [];

  get told(): readonly Deadlock[] {
    return this.#told;
  }

  /** Keys that have to be looked at again. */
  get keys(): readonly string[] {
    return [...this.#suspects.values()].flatMap(({ keys }) => keys).slice(0, MOST_KEYS);
  }

  /** Something was looked at. */
  look(lines: Iterable<Line>, at: number): void {
    const contested = new Map([...lines].filter(({ waiters }) => waiters.length > 0).map((line) => [line.key, line]));
    const { claims, lines: all } = linesOf([...contested.values()].flatMap(standingsOf));
    const found = deadlocksIn({ claims, lines: all }).map(({ claims: ids, cycle }) => {
      const members = ids.map((id) => claims.get(id)!);
      const name = members.map(({ id, key, held }) => JSON.stringify([id, key, held])).join();
      const keys = [...new Set(members.map(({ key }) => key))];
      const steps = cycle.map((id) => stepOf(claims.get(id)!));
      return [name, { at: this.#suspects.get(name)?.at ?? at, keys, deadlock: { steps, claims: ids.length } }] as const;
    });
    this.#suspects = new Map(found);
    this.#told = [...this.#suspects.values()]
      .filter((suspect) => suspect.keys.every((key) => contested.get(key)!.at > suspect.at))
      .map(({ deadlock }) => deadlock);
  }
}

const stepOf = (claim: WaitsClaim): Deadlock['steps'][number] => {
  const { label, key, held, ticket } = claim;
  return { label, key, held, ticket: `${ticket}`, process: processOf(claim) };
};

const standingsOf = ({ key, holders, waiters }: Line): Standing[] =>
  [...holders, ...waiters].map((claim, position) =>
    standingOf(claim, { key, held: position < holders.length, position }),
  );

const standingOf = (
  { ticket, take, of, label, origin }: Claim,
  place: Pick<Standing, 'key' | 'held' | 'position'>,
): Standing => ({ ...place, ticket, take, of, label, origin, remaining: 0 });
