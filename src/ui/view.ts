import { isExclusive } from '../core/index.ts';
import type { Board } from './board.ts';
import { graphOf } from './deadlocks.ts';
import { beganAt, type Change } from './history.ts';
import type { Query } from './query.ts';
import { groupsOf, isMark, rowOf, select, totalsOf, whoOf } from './rows.ts';
import type { Detail, Event, Lane, Memo, Snapshot } from './wire.ts';

/** How many holders, and waiters, of one key are shown. */
const LINE = 200;
const EVENTS = 60;
const LOSSES = 20;
/** Holds and losses that ended longer ago are not shown, ms. */
const LONGEST_SPAN = 3_600_000;

/** What does not come from the engine. */
interface Setting {
  readonly engine: string;
  readonly prefix: string;
  readonly mayRelease: boolean;
  /** When the page was started. */
  readonly began: number;
}

/** What one view shows now. */
export function snapshot(
  board: Board,
  query: Query,
  setting: Setting,
  { now, pause }: { now: number; pause: number },
): Snapshot {
  const { engine, prefix, mayRelease, began } = setting;
  const { state, at, took, next, looked, error, failingSince } = board.looks;
  const deadlocks = board.deadlocks.told;
  const seen = at !== undefined; // before, a key that is not known may be held all the same
  const known = (key: string): boolean => seen || board.line(key) !== undefined;
  const told = (change: Change): Event => eventOf(change, now);
  const { first, found } = select(board.lines(), query);
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
    totals: seen || (looked ?? 0) > 0 ? totalsOf(board.lines(), board.beyond, now) : null,
    groups: groupsOf(board.lines(), query.in, now),
    rows: first.map((line) => rowOf(line, now)),
    found,
    events: board.history.latest(EVENTS, query.in).map(told),
    losses: board.history
      .losses(LOSSES, query.in)
      .map(told)
      .filter(({ ago }) => ago <= LONGEST_SPAN),
    findings: board.findings ?? null,
    detail: query.key !== undefined && known(query.key) ? detailOf(board, query.key, now) : null,
    lanes: query.lines.filter(known).map((key) => laneOf(board, key, now)),
    deadlocks,
    graph: query.graph || deadlocks.length > 0 ? graphOf(board.lines(), deadlocks, now) : null,
    watched: now - began,
  };
}

function detailOf(board: Board, key: string, now: number): Detail {
  const { holders = [], waiters = [] } = board.line(key) ?? {};
  return {
    key,
    holders: holders.slice(0, LINE).map((claim) => whoOf(claim, true, now)),
    waiters: waiters.slice(0, LINE).map((claim) => whoOf(claim, false, now)),
    holding: holders.length,
    waiting: waiters.length,
    mark: isMark(key),
    memo: memoOf(board, key, now),
  };
}

function memoOf(board: Board, key: string, now: number): Memo | null {
  const seen = board.memos.get(key);
  if (!seen) return null;
  const { state, attempts, token, since, remaining } = seen.sight;
  const passed = now - seen.at;
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
    ago: now - at,
    to: to?.label ?? null,
    token: what !== 'left' && to && isExclusive(to) ? `${to.token}` : null,
    from: past?.label ?? null,
    end: past?.end ?? null,
    held: past ? past.to - past.from : null,
  };
}

function laneOf(board: Board, key: string, now: number): Lane {
  const line = board.line(key);
  const past = board.history
    .of(key)
    .filter(({ to }) => now - to <= LONGEST_SPAN)
    .map(({ label, token, from, to, end }) => ({ label, token: `${token}`, from: now - from, to: now - to, end }));
  const holding = (line?.holders ?? []).slice(0, LINE).map((claim) => {
    const { label, token } = claim;
    return { label, token: `${token}`, from: now - beganAt(claim), to: null, end: null };
  });
  return { key, spans: [...past, ...holding], waiting: line?.waiters.length ?? 0 };
}
