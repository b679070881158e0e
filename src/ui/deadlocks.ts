import type { Standing } from '../core/traits.ts';
import { linesOf, type WaitsClaim } from '../waits/claims.ts';
import { deadlocksIn } from '../waits/deadlocks.ts';
import { type KeyLine, processOf } from './claim.ts';
import type { Deadlock } from './wire.ts';

/** How many keys of deadlocks get a close look, to see whether the deadlocks last. */
const MOST_KEYS = 32;

interface Suspect {
  /** When it was first found. */
  readonly at: number;
  readonly keys: readonly string[];
  readonly deadlock: Deadlock;
}

/**
 * Finds claims that wait for each other without an end. A look reads one key after the other, so what it finds need not have
 * existed at one moment. But a claim that holds or waits in two looks did so all the time between them. So a deadlock is shown
 * when a later look at each of its keys still finds it.
 */
export class Deadlocks {
  #suspects: ReadonlyMap<string, Suspect> = new Map();
  #told: readonly Deadlock[] = [];

  get told(): readonly Deadlock[] {
    return this.#told;
  }

  /** The keys that need another look. */
  get keys(): readonly string[] {
    return [...this.#suspects.values()].flatMap(({ keys }) => keys).slice(0, MOST_KEYS);
  }

  /** Called after each look. */
  look(lines: Iterable<KeyLine>, at: number): void {
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

const standingsOf = ({ key, holders, waiters }: KeyLine): Standing[] =>
  [...holders, ...waiters].map(({ ticket, take, of, label, origin }, position) => {
    return { key, held: position < holders.length, position, ticket, take, of, label, origin, remaining: 0 };
  });
