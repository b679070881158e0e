import { admitted, isExclusive } from '../../src/core/index.ts';
import { type HandOver, handOvers } from './hand-overs.ts';
import { byKey, type History, type OperationWithHold } from './history.ts';
import type { Conditions, Violation } from './verdict.ts';

export interface Judgement {
  readonly violations: readonly Violation[];
  /** Hand-overs of keys while no fault was active. */
  readonly handOvers: readonly HandOver[];
}

/** Finds broken promises in a history. The same history always gets the same judgement. */
export function judge(history: History, conditions: Conditions): Judgement {
  const waits = handOvers(history, conditions);
  const violations = [...byKey(history.operations.values())].flatMap(([key, operations]) => {
    const holds = operations.filter((operation): operation is OperationWithHold => operation.hold !== undefined);
    const lost = conditions.standIn ? lossesToBlocks(key, holds, history, conditions) : [];
    return [...exclusion(key, holds), ...tokens(key, holds), ...register(key, holds), ...lost];
  });
  const crashes = history.crashes.map(({ at, by, how }): Violation => {
    return { broken: 'crash', at, ops: [], message: `process ${by} ended, although nobody ended it: ${how}` };
  });
  const hung = history.hung.map(({ at, by }): Violation => {
    const message = `process ${by} did not end when it was asked to: a wait, a release or its close has no end`;
    return { broken: 'hang', at, ops: [], message };
  });
  const remains = history.remains.map(({ key, label }): Violation => {
    const message = `${label} still holds ${key}, but its process has ended and its lease has expired`;
    return { broken: 'residue', key, at: history.now, ops: [], message };
  });
  return { violations: [...violations, ...waits.violations, ...crashes, ...hung, ...remains], handOvers: waits.quiet };
}

/** A thread must renew while the event loop is blocked. A loss under another fault proves nothing. */
function lossesToBlocks(
  key: string,
  holds: readonly OperationWithHold[],
  history: History,
  { stopsAll }: Conditions,
): Violation[] {
  return holds.flatMap(({ op, by, renewed, hold }): Violation[] => {
    const { from, lost } = hold;
    if (!renewed || lost === undefined) return [];
    const faults = [...history.disturbances.values()].filter(
      (fault) =>
        (fault.by === by || fault.by === undefined || (stopsAll && fault.kind === 'stopped')) &&
        fault.at < lost &&
        fault.until > from,
    );
    // A grant that came while the loop was blocked is a hold since the loop went on: the thread did not know of it before, and its time may be over.
    if (!faults.some(({ at }) => at > from) || faults.some(({ kind }) => kind !== 'blocked')) return [];
    const message = `at ${time(lost)} ${op} found that ${key} is lost; its loop was blocked, and a thread should have renewed it`;
    return [{ broken: 'renewal', key, at: lost, ops: [op], message }];
  });
}

const time = (ms: number): string => `${ms.toFixed(1)} ms`;
const from = (a: OperationWithHold, b: OperationWithHold): number => a.hold.from - b.hold.from;

/**
 * All holds that processes believe in at one moment must fit the rule together.
 */
function exclusion(key: string, holds: readonly OperationWithHold[]): Violation[] {
  let inside: OperationWithHold[] = [];
  return holds.toSorted(from).flatMap((next): Violation[] => {
    const { hold } = next;
    inside = inside.filter((other) => other.hold.until > hold.from);
    // A hold that was seen only once existed surely only at some moment between `before` and `from`.
    const seenOnce = hold.until <= hold.from;
    const together = [...(seenOnce ? inside.filter((other) => other.hold.from < hold.before) : inside), next];
    if (!seenOnce) inside.push(next);
    if (admitted(together) === together.length) return [];
    const who = together.map(({ op, hold }) => `${op} until ${time(hold.until)}${tokenOf(hold.token)}`);
    const message = `at ${time(hold.from)} ${together.length} held ${key} at once, inside their deadlines: ${who.join('; ')}`;
    return [{ broken: 'exclusion', key, at: hold.from, ops: together.map(({ op }) => op), message }];
  });
}

const tokenOf = (token: bigint | undefined): string => (token === undefined ? '' : ` (token ${token})`);

/** Tokens grow from hold to hold, and no token comes twice. */
function tokens(key: string, holds: readonly OperationWithHold[]): Violation[] {
  const exclusive = holds.filter((each) => isExclusive(each) && each.hold.token !== undefined);
  const entered = exclusive.toSorted(from);
  const found: Violation[] = [];
  const owners = new Map<bigint, OperationWithHold>();
  const wrong = (later: OperationWithHold, earlier: OperationWithHold): void => {
    const message = `${later.op} got ${key} with token ${later.hold.token}, but ${earlier.op} had held it before with token ${earlier.hold.token}`;
    found.push({ broken: 'tokens', key, at: later.hold.from, ops: [earlier.op, later.op], message });
  };
  let next = 0;
  let highest: OperationWithHold | undefined;
  for (const each of exclusive.toSorted((a, b) => a.hold.before - b.hold.before)) {
    // Only a hold that was seen before `before` of this hold surely came earlier.
    for (; entered[next] && entered[next]!.hold.from < each.hold.before; next++)
      if (!highest || entered[next]!.hold.token! > highest.hold.token!) highest = entered[next];
    const twin = owners.get(each.hold.token!);
    owners.set(each.hold.token!, each);
    if (highest && highest.hold.token! >= each.hold.token!) wrong(each, highest);
    else if (twin) wrong(each, twin);
  }
  return found;
}

/** The register must refuse a holder after the next one has written, and must accept a holder that still holds. */
function register(key: string, holds: readonly OperationWithHold[]): Violation[] {
  const claims = holds
    .filter(({ hold }) => hold.claimed !== undefined)
    .toSorted((a, b) => a.hold.before - b.hold.before);
  return holds.flatMap((each) =>
    each.hold.writes.flatMap(({ at, accepted }): Violation[] => {
      const { op, hold } = each;
      const common = { broken: 'register', key, at } as const;
      if (!accepted) {
        if (at >= hold.until) return [];
        return [{ ...common, ops: [op], message: `at ${time(at)} ${op} held ${key}, but its token was refused` }];
      }
      let later: OperationWithHold | undefined;
      for (let next = firstAfter(claims, hold.from); claims[next] && claims[next]!.hold.before < at && !later; next++)
        if (claims[next]!.hold.claimed! < at) later = claims[next];
      if (!later) return [];
      const message = `at ${time(at)} a write of ${op} to ${key} was accepted ${hold.token === undefined ? 'without a token' : 'with its token'}, but ${later.op} held the key by then`;
      return [{ ...common, ops: [op, later.op], message }];
    }),
  );
}

/** The index of the first hold with `before` after `time`, in a list in that order. */
function firstAfter(holds: readonly OperationWithHold[], time: number): number {
  let [low, high] = [0, holds.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds[middle]!.hold.before > time) high = middle;
    else low = middle + 1;
  }
  return low;
}
