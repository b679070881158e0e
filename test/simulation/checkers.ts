import { admitted } from '../../src/core/contract/admission.ts';
import { all, type Of, residue, time } from './events.ts';
import type { Event, History } from './history.ts';

/** Finds what must not be in a history: a line for each. */
export type Checker = (history: History) => string[];

/** Whoever believes to hold a key at one moment fits the rule, in some order: the sums do not depend on it. */
const exclusion: Checker = (history) =>
  all(history, 'believed')
    .filter(({ holders }) => admitted(holders) < holders.length)
    .map(
      ({ at, key, holders }) => `${time(at)}: holds ${holders.map(({ hold }) => hold).join(', ')} of ${key} at once`,
    );

/** Over several nodes: nobody believes to hold what a majority does not keep, whether somebody else is there to take it or not. */
const votes: Checker = (history) =>
  all(history, 'unkept').map(
    ({ at, hold, key, votes }) => `${time(at)}: hold ${hold} of ${key} is believed in, and ${votes} nodes keep it`,
  );

/** Who once saw that a hold is over never sees it again. */
const finality: Checker = (history) => {
  const before = new Map<string, Set<number>>();
  const over = new Set<number>();
  return all(history, 'believed').flatMap(({ at, key, holders }) => {
    const now = new Set(holders.map(({ hold }) => hold));
    for (const hold of before.get(key) ?? []) if (!now.has(hold)) over.add(hold);
    before.set(key, now);
    return [...now].filter((hold) => over.has(hold)).map((hold) => `${time(at)}: hold ${hold} of ${key} is back`);
  });
};

/** Strictly growing per key from hold to hold, and one and the same for all who share a hold. */
const tokens: Checker = (history) => {
  const found: string[] = [];
  const last = new Map<string, { token: bigint; hold: number }>();
  for (const { at, key, hold, token, robbed } of all(history, 'given')) {
    if (token === undefined || robbed) continue;
    const before = last.get(key);
    if (before && (before.hold === hold ? token !== before.token : token <= before.token))
      found.push(
        `${time(at)}: hold ${hold} of ${key} has token ${token}, after ${before.token} of hold ${before.hold}`,
      );
    else last.set(key, { token, hold });
  }
  return found;
};

/** Nobody gets a key that `minHold` of another's hold keeps taken, given back or not. */
const minHold: Checker = (history) => {
  const keepers = new Map<string, Of<Event, 'given'>>();
  return all(history, 'given', 'evicted').flatMap((event) => {
    const { at, key } = event;
    if (event.what === 'evicted') keepers.delete(key);
    if (event.what === 'evicted' || event.robbed) return [];
    const before = keepers.get(key);
    if (before?.hold === event.hold) return [];
    if (event.token === undefined) keepers.delete(key);
    else keepers.set(key, event);
    if (!before || at >= before.kept) return [];
    return [`${time(at)}: hold ${event.hold} of ${key}, which hold ${before.hold} keeps until ${time(before.kept)}`];
  });
};

/**
 * Each hold that ended by itself was told of once: on the channel, and on the signal of each lease that was not given back by
 * then. One given back in time, never after.
 */
const losses: Checker = (history) => {
  const crashed = new Set(all(history, 'crashed').map(({ by }) => by));
  const events = all(history, 'given', 'back', 'signalled', 'lost');
  const holds = new Map(all(history, 'given').map(({ hold, by }) => [hold, by]));
  return [...holds].flatMap(([hold, by]) => {
    if (crashed.has(by)) return [];
    const mine = events.filter((event) => event.hold === hold);
    const told = mine.filter(({ what }) => what === 'lost').length;
    const lost = mine.findIndex(({ what }) => what === 'lost');
    const leases = new Set(mine.flatMap((event) => ('lease' in event ? [event.lease] : [])));
    const wrong = [...leases].flatMap((lease) => {
      const ofLease = (what: string) =>
        mine.filter((event) => 'lease' in event && event.lease === lease && event.what === what);
      const signals = ofLease('signalled').length;
      // Whether one that was given back just before the loss is told of it depends on what giving it back found.
      const gone = ofLease('back').some((event) => mine.indexOf(event) < lost);
      return signals === told || (gone && signals === 0) ? [] : [signals];
    });
    if (told > 1 || wrong.length > 0)
      return [`hold ${hold} was told lost ${told} times, and its leases were signalled ${wrong.join(', ')} times`];
    const over = mine.some((event) => event.what === 'back' && !event.held);
    return over && told === 0 ? [`hold ${hold} was over when it was given back, and nobody was told`] : [];
  });
};

/** Everything that was asked for in a living process came to an end, and to one that is foreseen. */
const endings: Checker = (history) => {
  const foreseen = new Set([
    'LOCK_TIMEOUT',
    'LOCK_ABORTED',
    'LOCK_UNAVAILABLE',
    'LOCK_LOST',
    'LOCK_NOT_HELD',
    'LOCK_CLOSED',
  ]);
  const crashed = new Set(all(history, 'crashed').map(({ by }) => by));
  const settled = new Map(all(history, 'settled').map((event) => [event.op, event]));
  return all(history, 'asked').flatMap(({ at, op, by, as }) => {
    const end = settled.get(op);
    if (!end) return crashed.has(by) ? [] : [`${as}, asked for at ${time(at)} by ${by}, waits for ever`];
    return end.error === undefined || foreseen.has(end.error) ? [] : [`${as} by ${by} ended with ${end.error}`];
  });
};

/** Where nothing is lost, whoever is admitted has the lease at once; where wakes are lost, within the fallback poll. */
const wakeUps: Checker = (history) => {
  const { calm, wakes, wakesLost } = history.scene;
  if (!calm) return [];
  // A wake, an attempt after it, arming and the attempt after that: messages of at most 10 ms each. Then polls, of 2 s or 400 ms.
  const bound = wakes === 'never' ? 500 : wakesLost ? 2_100 : 80;
  const ends = new Map<string, number>();
  for (const { at, id } of all(history, 'given', 'freed')) if (!ends.has(id)) ends.set(id, at);
  return all(history, 'admitted').flatMap(({ at, id }) => {
    const after = (ends.get(id) ?? Number.POSITIVE_INFINITY) - at;
    return after <= bound ? [] : [`admitted at ${time(at)}, known ${time(after)} later (claim ${id.slice(0, 4)})`];
  });
};

/** Children of one hold one at a time. */
const children: Checker = (history) => {
  const inside = new Map<string, number>(); // over several nodes two keys may have one number
  return all(history, 'in', 'out').flatMap(({ at, what, key, token, child }) => {
    const hold = `${key}:${token}`;
    const other = inside.get(hold);
    if (what === 'out') inside.delete(hold);
    else inside.set(hold, child);
    return what === 'in' && other !== undefined ? [`${time(at)}: children ${other} and ${child} together`] : [];
  });
};

/** Nothing of the library's runs in the context of a caller that it does not belong to. */
const contexts: Checker = (history) =>
  all(history, 'called').flatMap(({ at, as, of, in: by }) =>
    by === undefined || by === of ? [] : [`${time(at)}: ${as} of ${of ?? 'nobody'} in the context of ${by}`],
  );

export const CHECKERS = {
  exclusion,
  votes,
  finality,
  tokens,
  minHold,
  losses,
  endings,
  wakeUps,
  children,
  contexts,
  residue,
};

export type CheckerName = keyof typeof CHECKERS;

/** What the checkers find, each line with the name of the one that found it. */
export function check(history: History): string[] {
  return Object.entries(CHECKERS).flatMap(([name, checker]) => checker(history).map((line) => `${name}: ${line}`));
}
