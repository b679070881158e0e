import { all, residue, time } from '../events.ts';
import type { MemoEvent, MemoHistory } from './history.ts';

/** Finds what must not be in a history: a line for each. */
type Checker = (history: MemoHistory) => string[];

const byOp = <E extends { readonly op: number }>(events: readonly E[]): Map<number, E> =>
  new Map(events.map((event) => [event.op, event]));

/** No two runs of a key believe that they hold it. */
const exclusion: Checker = (history) =>
  all(history, 'believed').map(({ at, key, ops }) => `${time(at)}: ${ops.join(' and ')} run ${key} at once`);

/** The runs of a key have tokens that grow, and nobody runs twice for one call. */
const tokens: Checker = (history) => {
  const last = new Map<string, bigint>();
  const ops = new Set<number>();
  return all(history, 'begun').flatMap(({ at, op, key, token }) => {
    const before = last.get(key) ?? 0n;
    last.set(key, token);
    const wrong = [
      ...(token > before ? [] : [`${time(at)}: a run of ${key} has token ${token} after ${before}`]),
      ...(ops.has(op) ? [`${time(at)}: ${op} runs once more`] : []),
    ];
    ops.add(op);
    return wrong;
  });
};

/** A caller whose function ran has what that gave, and every other caller what the run of that token gave. */
const values: Checker = (history) => {
  const done = byOp(all(history, 'done'));
  const runs = new Map(all(history, 'begun').map(({ op, key, token }) => [`${key}:${token}`, op]));
  const had = all(history, 'had').flatMap(({ at, op, key, value, ran, token }) => {
    const maker = ran ? op : runs.get(`${key}:${token}`);
    const made = maker === undefined ? undefined : done.get(maker)?.value;
    return made === value ? [] : [`${time(at)}: ${op} has "${value}" of token ${token}, which gave "${made}"`];
  });
  const missed = byOp(all(history, 'missed'));
  const own = all(history, 'done').flatMap(({ op, value }) => {
    const error = missed.get(op)?.error;
    if (error === undefined || (value === undefined && error === `error of ${op}`)) return [];
    return [`${op} ${value === undefined ? 'failed' : 'has a result'}, and its caller has ${error}`];
  });
  return [...had, ...own];
};

/** The keys that calls have begun to forget. A call that has not come back, or that failed, may forget its key at any time. */
class OpenForgets {
  readonly #calls = new Map<string, number>();

  note({ what, key }: { readonly what: 'forgets' | 'forgot'; readonly key: string }): void {
    this.#calls.set(key, (this.#calls.get(key) ?? 0) + (what === 'forgets' ? 1 : -1));
  }

  has(key: string): boolean {
    return (this.#calls.get(key) ?? 0) > 0;
  }
}

/** Of a key that keeps its result there is one result, and from the moment in which somebody has it nobody begins again, until it is forgotten. */
const oneResult: Checker = (history) => {
  if (!history.scene.keeps || history.scene.refreshes) return [];
  const kept = new Map<string, bigint>();
  /** The last run of each key of which nobody knows whether what it left was there when the key was forgotten. */
  const passed = new Map<string, bigint>();
  const begun = new Map<string, bigint>();
  const open = new OpenForgets();
  return history.events.flatMap((event) => {
    if (event.what === 'forgets' || event.what === 'forgot') {
      const { key } = event;
      open.note(event);
      kept.delete(key);
      passed.set(key, begun.get(key) ?? 0n);
      return [];
    }
    if (event.what !== 'begun' && event.what !== 'had') return [];
    const { at, op, key, token } = event;
    if (event.what === 'begun') begun.set(key, token);
    if (token <= (passed.get(key) ?? -1n) || open.has(key)) return [];
    const first = kept.get(key);
    if (event.what === 'begun')
      return first !== undefined ? [`${time(at)}: ${op} runs ${key}, whose result of token ${first} is kept`] : [];
    if (event.ran && event.kept !== true) return [];
    kept.set(key, first ?? token);
    return (first ?? token) === token ? [] : [`${time(at)}: ${key} has a result of ${first} and one of ${token}`];
  });
};

/** Once a process has forgotten a key, no later call of it has what was there before. */
const forgotten: Checker = (history) => {
  const order = new Map<MemoEvent, number>(history.events.map((event, index) => [event, index]));
  const isBefore = (one: MemoEvent, other: MemoEvent): boolean => order.get(one)! < order.get(other)!;
  const asked = byOp(all(history, 'asked'));
  const begun = byOp(all(history, 'forgets'));
  const forgot = all(history, 'forgot');
  const had = all(history, 'had');
  const makers = had.filter(({ ran, kept }) => ran && kept === true);
  const made = new Map(makers.map((event) => [`${event.key}:${event.token}`, event]));
  return had.flatMap(({ at, op, key, ran, token, value }) => {
    const maker = made.get(`${key}:${token}`);
    if (ran || !maker) return [];
    const call = asked.get(op)!;
    const own = forgot.filter((each) => each.key === key && each.by === call.by);
    const gone = own.find((each) => isBefore(maker, begun.get(each.op)!) && isBefore(each, call));
    return gone ? [`${time(at)}: ${op} has "${value}", which ${call.by} forgot at ${time(gone.at)}`] : [];
  });
};

/** What is kept only for those who wait answers nobody who asked after its caller had it. */
const onlyWaiters: Checker = (history) => {
  if (history.scene.keeps) return [];
  const asked = byOp(all(history, 'asked'));
  const had = all(history, 'had');
  return had.flatMap(({ at, op, key, ran, token }) => {
    if (ran) return [];
    const maker = had.find((each) => each.ran && each.key === key && each.token === token);
    return maker && asked.get(op)!.at > maker.at
      ? [`${time(at)}: ${op} asked at ${time(asked.get(op)!.at)}, and has what was there at ${time(maker.at)}`]
      : [];
  });
};

/** A key is begun no more often than its attempts, deaths included, without a result that is kept. */
const attempts: Checker = (history) => {
  const done = byOp(all(history, 'done'));
  const had = byOp(all(history, 'had'));
  // A runner that died, or that got no answer, may have left its result all the same.
  const mayBeKept = (op: number): boolean => done.get(op)?.value !== undefined && had.get(op)?.kept !== false;
  const begun = new Map<string, number>();
  const open = new OpenForgets();
  /** The calls that were made since their key was forgotten. What was granted to an earlier one may have been forgotten, too. */
  const later = new Map<string, Set<number>>();
  return all(history, 'asked', 'begun', 'forgets', 'forgot').flatMap((event) => {
    const { at, op, key } = event;
    if (event.what === 'asked') later.set(key, (later.get(key) ?? new Set()).add(op));
    if (event.what === 'forgets' || event.what === 'forgot') {
      open.note(event);
      later.delete(key);
      begun.delete(key);
    }
    if (event.what !== 'begun' || open.has(key)) return [];
    const times = (begun.get(key) ?? 0) + (later.get(key)?.has(op) ? 1 : 0);
    begun.set(key, mayBeKept(op) ? 0 : times);
    return times > history.scene.attempts ? [`${time(at)}: ${op} begins ${key}, ${times} times without a result`] : [];
  });
};

/** Every call in a living process came to an end, and to one that is foreseen. */
const endings: Checker = (history) => {
  const foreseen = new Set(
    ['TIMEOUT', 'ABORTED', 'UNAVAILABLE', 'CLOSED', 'POISONED', 'LOST'].map((end) => `LOCK_${end}`),
  );
  const crashed = new Set(all(history, 'crashed').map(({ by }) => by));
  const ends = byOp(all(history, 'had', 'missed'));
  return all(history, 'asked').flatMap(({ at, op, by }) => {
    const end = ends.get(op);
    if (!end) return crashed.has(by) ? [] : [`${op}, asked at ${time(at)} by ${by}, waits for ever`];
    if (end.what === 'had' || foreseen.has(end.error) || end.error === `error of ${op}`) return [];
    return [`${op} by ${by} ended with ${end.error}`];
  });
};

/** Where nothing is lost, every caller that waited has a kept result soon after the one that made it. */
const promptness: Checker = (history) => {
  const { calm, wakes, wakesLost } = history.scene;
  if (!calm) return [];
  const bound = wakes === 'never' ? 500 : wakesLost ? 2_100 : 80;
  const asked = byOp(all(history, 'asked'));
  const had = all(history, 'had');
  return had.flatMap(({ at, op, key, ran, token }) => {
    const maker = had.find((each) => each.ran && each.key === key && each.token === token);
    if (ran || !maker || asked.get(op)!.at > maker.at) return [];
    return at - maker.at <= bound ? [] : [`${op} has the result of ${key} ${time(at - maker.at)} after its maker`];
  });
};

export const MEMO_CHECKERS = {
  exclusion,
  tokens,
  values,
  oneResult,
  forgotten,
  onlyWaiters,
  attempts,
  endings,
  promptness,
  residue,
};

export type MemoCheckerName = keyof typeof MEMO_CHECKERS;

/** What the checkers find, each line with the name of the one that found it. */
export function checkMemo(history: MemoHistory): string[] {
  return Object.entries(MEMO_CHECKERS).flatMap(([name, checker]) => checker(history).map((line) => `${name}: ${line}`));
}
