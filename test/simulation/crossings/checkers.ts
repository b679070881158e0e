import { admitted } from '../../../src/core/contract/admission.ts';
import { CHECKERS, type Checker } from '../checkers.ts';
import { all, type Of, time } from '../events.ts';
import type { Event, History } from '../history.ts';
import { idleness } from './idleness.ts';

type Request = Of<Event, 'request'>;

/** A request until its answer. */
interface Wait {
  readonly request: Request;
  readonly answer: Of<Event, 'answer'> | undefined;
}

function waitsOf(history: History): Wait[] {
  const answers = new Map(all(history, 'answer').map((event) => [event.request, event]));
  return all(history, 'request').map((request) => ({ request, answer: answers.get(request.request) }));
}

const named = ({ request, primitive, features, by }: Request): string =>
  `${request} (${primitive} with ${features.join(' and ') || 'nothing'}, of ${by})`;

/** A request and its answer, one that came too late and one more, and a note, for each of its keys; and the way back. ms */
const PER_KEY = 60;
const BACK = 25;

/** `wait: 0` never waits for anybody. */
const attempts: Checker = (history) => {
  if (!history.scene.calm) return [];
  return waitsOf(history).flatMap(({ request, answer }) => {
    if (request.wait !== 0) return [];
    const took = (answer?.at ?? Number.POSITIVE_INFINITY) - request.at;
    return took <= request.keys.length * PER_KEY + BACK
      ? []
      : [`request ${named(request)} has wait 0, and waited for ${time(took)}`];
  });
};

/** A wait ends with its limit, and with its signal. */
const limits: Checker = (history) => {
  if (!history.scene.calm) return [];
  const aborted = new Map(all(history, 'aborts').map(({ request, at }) => [request, at]));
  return waitsOf(history).flatMap(({ request, answer }) => {
    const { at, wait } = request;
    const end = Math.min(at + wait * 1.01, Math.max(at, aborted.get(request.request) ?? Number.POSITIVE_INFINITY));
    const late = (answer?.at ?? Number.POSITIVE_INFINITY) - end;
    return wait === 0 || end === Number.POSITIVE_INFINITY || late <= 60
      ? []
      : [`request ${named(request)} was to end at ${time(end)}, and waited ${time(late)} longer`];
  });
};

const termsOf = (history: History): Map<number, Of<Event, 'terms'>> =>
  new Map(all(history, 'terms').map((terms) => [terms.hold, terms]));

const ownersOf = (history: History): Map<number, string> =>
  new Map(all(history, 'given').map(({ hold, by }) => [hold, by]));

/** Nobody holds longer than `maxHold`, a lease without renewal, or the cap of one that adapts allow. */
const holds: Checker = (history) => {
  const terms = termsOf(history);
  return all(history, 'believed').flatMap(({ at, key, holders }) =>
    holders.flatMap(({ hold }) => {
      const limit = terms.get(hold)?.limit ?? Number.POSITIVE_INFINITY;
      return at <= limit * 1.01 + 20 ? [] : [`${time(at)}: hold ${hold} of ${key} was to be over at ${time(limit)}`];
    }),
  );
};

/** After a hold that expired, or whose process died, nobody has the key before its `delay` is over. */
const delays: Checker = (history) => {
  const terms = termsOf(history);
  const owners = ownersOf(history);
  const closing = all(history, 'closing');
  // A session ends with its process's goodbye, and all that it carried.
  const gone = (hold: number, at: number): boolean =>
    history.scene.keptBy === 'session' && closing.some((event) => event.by === owners.get(hold) && event.at <= at);
  const closed = new Map<string, Of<Event, 'over'>[]>();
  return all(history, 'over', 'evicted', 'given').flatMap((event) => {
    const { at, key } = event;
    if (event.what === 'evicted') closed.delete(key);
    if (event.what === 'over') closed.set(key, [...(closed.get(key) ?? []), event]);
    if (event.what !== 'given' || event.robbed) return [];
    const mine = terms.get(event.hold)!;
    return (closed.get(key) ?? [])
      .filter(({ hold, closedUntil }) => hold !== event.hold && at < closedUntil && !gone(hold, at))
      .filter(({ hold }) => admitted([terms.get(hold)!, mine]) < 2)
      .map(
        ({ hold, closedUntil }) =>
          `${time(at)}: hold ${event.hold} of ${key}, closed by ${hold} until ${time(closedUntil)}`,
      );
  });
};

/** After its `close` a process holds nothing, gets nothing, and waits for nothing; and the close ends. */
const closes: Checker = (history) => {
  const { calm } = history.scene;
  const crashed = new Set(all(history, 'crashed').map(({ by }) => by));
  const ended = new Map(all(history, 'closed').map(({ at, by }) => [by, at]));
  const begun = new Map(
    all(history, 'closing')
      .reverse()
      .map(({ at, by }) => [by, at]),
  );
  const owners = ownersOf(history);
  const closedAt = (by: string | undefined): number => begun.get(by ?? '') ?? Number.POSITIVE_INFINITY;
  const kept = all(history, 'believed').flatMap(({ at, key, holders }) =>
    holders
      .filter(({ hold }) => at > closedAt(owners.get(hold)))
      .map(
        ({ hold }) =>
          `${time(at)}: hold ${hold} of ${key}, whose process closed at ${time(closedAt(owners.get(hold)))}`,
      ),
  );
  const waited = waitsOf(history).flatMap(({ request, answer }) => {
    const late = (answer?.at ?? Number.POSITIVE_INFINITY) - Math.max(request.at, closedAt(request.by));
    return !calm || late <= 60 || closedAt(request.by) === Number.POSITIVE_INFINITY
      ? []
      : [`request ${named(request)} waited for ${time(late)} after the close`];
  });
  const open = [...begun].flatMap(([by, at]) => {
    const took = (ended.get(by) ?? Number.POSITIVE_INFINITY) - at;
    return crashed.has(by) || took <= (calm ? 6_000 : 30_000) ? [] : [`the close of ${by} took ${time(took)}`];
  });
  return [...kept, ...waited, ...open];
};

/** Whoever is evicted is told, at the next renewal at the latest. */
const evictions: Checker = (history) => {
  if (!history.scene.calm) return [];
  const terms = termsOf(history);
  const given = all(history, 'given');
  const ends = all(history, 'lost', 'back');
  return all(history, 'forced').flatMap(({ at, key, evicted }) => {
    if (evicted === 0) return [];
    const held = given.filter((event) => event.key === key && event.at < at - 60);
    const last = held.at(-1);
    if (!last || (terms.get(last.hold)?.units ?? 0) < (terms.get(last.hold)?.capacity ?? 1)) return [];
    const { renewals, limit } = terms.get(last.hold)!;
    const end = ends.find(({ hold }) => hold === last.hold)?.at ?? Number.POSITIVE_INFINITY;
    const late = end - at;
    return limit < Number.POSITIVE_INFINITY || late <= renewals + 100
      ? []
      : [`hold ${last.hold} of ${key} was evicted at ${time(at)}, and told ${time(late)} later`];
  });
};

/** With `awaitRelease: false` its caller goes on in the turn in which it gives back. */
const releases: Checker = (history) => {
  const back = new Map(all(history, 'gives back').map(({ request, at }) => [request, at]));
  const done = new Map(all(history, 'done').map(({ request, at }) => [request, at]));
  return all(history, 'request').flatMap((request) => {
    if (!request.features.includes('awaitRelease') || request.primitive === 'memo') return [];
    const [from, to] = [back.get(request.request), done.get(request.request)];
    return from === undefined || to === undefined || to <= from
      ? []
      : [`request ${named(request)} gave back at ${time(from)}, and waited for ${time(to - from)}`];
  });
};

/** A ring of waits that ask for the search ends, and nobody is a victim where there is none. */
const rings: Checker = (history) => {
  const waits = waitsOf(history).filter(({ request }) => request.features.includes('detect'));
  return waits.flatMap(({ request, answer }) => {
    const opposes = request.keys[0]!.startsWith('outer');
    // Nobody else sees those who wait behind others of their own process, and do not ask for the search.
    const unseen = waitsOf(history).some(
      ({ request: { by, at, features, keys } }) =>
        by === request.by && at < request.at + 8_000 && keys.length > 1 && !features.includes('detect'),
    );
    // Whoever was robbed holds nothing that somebody could wait for.
    const robbed = all(history, 'evicted').some((event) => event.at < (answer?.at ?? 0));
    if (history.scene.calm && opposes && answer?.error === 'LOCK_TIMEOUT' && !unseen && !robbed)
      return [`request ${named(request)} was in a ring until ${time(answer.at)}`];
    if (answer?.error !== 'LOCK_DEADLOCK') return [];
    const others = waits.filter(
      (other) =>
        other.request.request !== request.request &&
        other.request.keys[0]!.startsWith('outer') !== opposes &&
        other.request.at < answer.at &&
        (other.answer?.at ?? Number.POSITIVE_INFINITY) >= answer.at,
    );
    return others.length > 0 ? [] : [`request ${named(request)} is the victim of a ring that is none`];
  });
};

/** Nothing listens to the signal of a caller in the end. */
const listeners: Checker = (history) =>
  all(history, 'listened').flatMap(({ listeners }) => (listeners === 0 ? [] : [`${listeners} listeners on signals`]));

/** A caller of a memo has what the run of that token made. */
const memos: Checker = (history) => {
  const made = new Map(all(history, 'made').map(({ key, token, value }) => [`${key}:${token}`, value]));
  return all(history, 'had').flatMap(({ at, key, token, value }) =>
    made.get(`${key}:${token}`) === value ? [] : [`${time(at)}: ${value} is of no run of ${key} with token ${token}`],
  );
};

/** As everywhere; and a search for deadlocks may have a victim. */
const endings: Checker = (history) =>
  CHECKERS.endings(history).filter((line) => !/(detect|opposes).* ended with LOCK_DEADLOCK$/.test(line));

const OWN = {
  endings,
  attempts,
  limits,
  holds,
  delays,
  closes,
  evictions,
  releases,
  rings,
  idleness,
  listeners,
  memos,
};

/** What is admitted of several locks is known only with the last of them: `idleness` looks at that. */
const { wakeUps: _, ...EVERYWHERE } = CHECKERS;

export const CROSSING_CHECKERS = { ...EVERYWHERE, ...OWN };
export type CrossingCheckerName = keyof typeof CROSSING_CHECKERS;

/** What the checkers find, each line with the name of the one that found it. */
export function checkCrossing(history: History): string[] {
  return Object.entries(CROSSING_CHECKERS).flatMap(([name, checker]) =>
    checker(history).map((line) => `${name}: ${line}`),
  );
}
