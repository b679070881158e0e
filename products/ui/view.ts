import type { MemoSight } from '../../src/memo/state.ts';
import type { Board } from './board.ts';
import type { ListedClaim } from './claim.ts';
import { graphOf } from './deadlocks.ts';
import { beganAt, type Change } from './history.ts';
import type { Query } from './query.ts';
import type { HistoryEntry, Recorder } from './recorder.ts';
import { groupsOf, isMark, rowOf, select, totalsOf, whoOf } from './rows.ts';
import type { Detail, Event, Lane, Memo, Person, Snapshot } from './wire.ts';

const LINE = 200;
const EVENTS = 60;
const LOSSES = 20;
/** How much of the history of the open key is shown. */
const HISTORY = 20;
/** The time line shows holds that ended within this time, ms. */
const MAX_SPAN_MS = 3_600_000;

/** The facts of a view that do not come from the engine. */
interface Setting {
  readonly engine: string;
  readonly prefix: string;
  readonly mayRelease: boolean;
  /** When the page was started, ms. */
  readonly began: number;
  /** What the locks of this process did. */
  readonly recorder?: Recorder | undefined;
  /** The address of a trace, with `{traceId}` in its place. */
  readonly traceUrl?: string | undefined;
}

export function snapshot(
  board: Board,
  query: Query,
  setting: Setting,
  { now, pause }: { now: number; pause: number },
): Snapshot {
  const { engine, prefix, mayRelease, began, recorder } = setting;
  const { state, at, took, next, looked, error, failingSince } = board.looks;
  const deadlocks = board.deadlocks.confirmed;
  const seen = at !== undefined; // before the first complete look, an unknown key may be held
  const known = (key: string): boolean => seen || board.view(key) !== undefined;
  const { first, found } = select(board.views(), query);
  return {
    engine,
    prefix,
    mayRelease,
    look: {
      state,
      age: at === undefined ? null : now - at,
      took: took ?? null,
      next: next === undefined ? null : Math.max(0, next - now),
      pause,
      looked: looked ?? null,
      error: error ?? null,
      failingFor: failingSince === undefined ? null : now - failingSince,
    },
    totals: seen || (looked ?? 0) > 0 ? totalsOf(board.views(), board.beyond, now) : null,
    groups: groupsOf(board.views(), query.in, now),
    rows: first.map((line) => rowOf(line, now)),
    found,
    events: board.history.latest(EVENTS, query.in).map((change) => eventOf(change, now)),
    losses: lossesOf(board.history.losses(LOSSES, query.in), recorder, query.in, now),
    findings: board.findings ?? null,
    detail: query.key !== undefined && known(query.key) ? detailOf(board, query.key, now, setting) : null,
    lanes: query.lines.filter(known).map((key) => laneOf(board, key, now)),
    deadlocks,
    graph: query.graph || deadlocks.length > 0 ? graphOf(board.views(), deadlocks, now) : null,
    watched: now - began,
  };
}

/** A loss that this process reports replaces the same loss that a look has found, because the report has the reason. */
function lossesOf(seen: readonly Change[], recorder: Recorder | undefined, prefix: string, now: number): Event[] {
  const own = (recorder?.troubles ?? []).filter(
    ({ what, key }) => key.startsWith(prefix) && what !== 'timedOut' && what !== 'failed',
  );
  const told = new Set(own.map(({ key, token, label }) => `${token ?? label} ${key}`));
  const others = seen.filter(
    ({ key, past }) => !told.has(`${past?.token} ${key}`) && !told.has(`${past?.label} ${key}`),
  );
  return [...own.slice(-LOSSES).map(eventOfEntry), ...others.map((change) => eventOf(change, now))]
    .sort((a, b) => a.ago - b.ago)
    .slice(0, LOSSES);
}

function detailOf(board: Board, key: string, now: number, { recorder, traceUrl }: Setting): Detail {
  const { holders = [], waiters = [] } = board.view(key) ?? {};
  const personOf =
    (holds: boolean) =>
    (claim: ListedClaim): Person => {
      const trace = board.traces.get(`${claim.token} ${key}`);
      return { ...whoOf(claim, holds, now), trace: (trace && traceUrl?.replaceAll('{traceId}', trace)) ?? null };
    };
  return {
    key,
    holders: holders.slice(0, LINE).map(personOf(true)),
    waiters: waiters.slice(0, LINE).map(personOf(false)),
    holding: holders.length,
    waiting: waiters.length,
    mark: isMark(key),
    memo: memoOf(board, key, now),
    history: recorder?.history(key).entries.slice(-HISTORY).reverse().map(eventOfEntry) ?? null,
  };
}

function memoOf(board: Board, key: string, now: number): Memo | null {
  const seen = board.memos.get(key);
  return seen ? memoSeen(seen.sight, now - seen.at) : null;
}

/** @param passed the time since the look that found the memo, ms */
export function memoSeen({ state, attempts, token, since, remaining }: MemoSight, passed = 0): Memo {
  return {
    state,
    attempts,
    token: token === undefined ? null : `${token}`,
    since: since === undefined ? null : since + passed,
    left: remaining === undefined ? null : remaining - passed,
  };
}

function eventOf({ what, key, at, to, past }: Change, now: number): Event {
  return {
    what,
    key,
    at: Math.round(performance.timeOrigin + at),
    ago: now - at,
    to: to?.label ?? null,
    from: past?.label ?? null,
    end: past?.end ?? null,
    held: past ? past.to - past.from : null,
    why: null,
  };
}

/** The event and the end that the page shows for an entry of the history. */
const TOLD = {
  holds: ['granted', null],
  released: ['over', 'released'],
  lost: ['over', 'lost'],
  evicted: ['over', 'evicted'],
  timedOut: ['left', null],
  failed: ['left', null],
  evicts: ['evicts', null],
} as const satisfies Record<HistoryEntry['what'], readonly [Event['what'], Event['end']]>;

function eventOfEntry({ what, key, label, from: began, to: ended, why }: HistoryEntry): Event {
  const [happening, end] = TOLD[what];
  const [from, to] = end ? [label, null] : [null, label];
  const at = ended ?? began;
  return { what: happening, key, at, ago: Date.now() - at, to, from, end, held: end && at - began, why };
}

function laneOf(board: Board, key: string, now: number): Lane {
  const line = board.view(key);
  const past = board.history
    .of(key)
    .filter(({ to }) => now - to <= MAX_SPAN_MS)
    .map(({ label, token, from, to, end }) => ({ label, token: `${token}`, from: now - from, to: now - to, end }));
  const holding = (line?.holders ?? []).slice(0, LINE).map((claim) => {
    const { label, token } = claim;
    return { label, token: `${token}`, from: now - beganAt(claim), to: null, end: null };
  });
  return { key, spans: [...past, ...holding], waiting: line?.waiters.length ?? 0 };
}
