import { styleText } from 'node:util';
import { asOf, isExclusive, visible } from '../core/index.ts';
import type { Locks, QueueEntry } from '../index.ts';
import { runtimeOf } from '../locks.ts';
import { type MemoSight, sightOf } from '../memo/state.ts';
import { type EngineAddress, sourceOf } from './engine.ts';
import { span, table } from './terminal/table.ts';

/** The time that is left of a lease, unless it is renewed. */
const LEFT = 'EXPIRES IN';

/** The line of one key. */
export interface KeyLine {
  readonly key: string;
  readonly holders: readonly QueueEntry[];
  readonly waiters: readonly QueueEntry[];
}

/** Groups standings by key, in the order of the lines. */
export async function linesOf(standings: AsyncIterable<QueueEntry>): Promise<KeyLine[]> {
  const lines = new Map<string, { key: string; holders: QueueEntry[]; waiters: QueueEntry[] }>();
  for await (const standing of standings) {
    const { key, held } = standing;
    const line = lines.get(key) ?? { key, holders: [], waiters: [] };
    lines.set(key, line);
    line[held ? 'holders' : 'waiters'].push(standing);
  }
  return [...lines.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** Asks for the line of one key by its exact name. */
export const findLine = async (locks: Locks, key: string): Promise<KeyLine | undefined> =>
  (await linesOf(locks.inspect(key, { exact: true })))[0];

/** What the engine remembers of a key, but no words. */
export const findMemo = (locks: Locks, key: string, line: KeyLine | undefined): Promise<MemoSight | undefined> =>
  sightOf(runtimeOf(locks, 'show').engine, key, line !== undefined && line.holders.length > 0);

/** The state of a memo in words. */
export function memoLine({ state, attempts, token, since, remaining }: MemoSight): string {
  const facts = [
    token !== undefined && `token ${token}`,
    since !== undefined && `left ${span(since)} ago`,
    remaining !== undefined && `gone in ${span(remaining)}`,
    attempts > 0 && `begun ${attempts === 1 ? 'once' : `${attempts} times`} without a result`,
  ];
  return `memo: ${[state, ...facts.filter(Boolean)].join(', ')}`;
}

/** The state of a memo for JSON: one line, beside those of the holders and waiters. */
export function memoRecord(key: string, { state: memo, attempts, token, since, remaining }: MemoSight): string {
  return JSON.stringify({ key, memo, attempts, token: tokenText(token), since: ms(since), remaining: ms(remaining) });
}

const tokenText = (token: bigint | undefined): string | null => (token === undefined ? null : `${token}`);
const ms = (time = Number.NaN): number | null => (Number.isFinite(time) ? Math.round(time) : null);

/** All of a line, the holders first. */
const all = ({ holders, waiters }: KeyLine): QueueEntry[] => [...holders, ...waiters];

/** Instead of a table without rows. */
export function nobody(prefix: string, address: EngineAddress): string {
  const keys = prefix && ` whose key begins with ${visible(JSON.stringify(prefix))}`;
  return `Nobody holds or waits for anything${keys} in ${sourceOf(address)}.`;
}

/** A row per key. */
export function overview(lines: readonly KeyLine[], width?: number): string[] {
  const rows = lines.map(({ key, holders, waiters }) => {
    const [first] = holders;
    const who = first ? first.label + (holders.length > 1 ? ` and ${holders.length - 1} more` : '') : '-';
    const left = holders.reduce((least, { remaining }) => Math.min(least, remaining), Number.POSITIVE_INFINITY);
    return [key, who, tokenOf(first), holders.length > 0 ? span(left) : '-', `${waiters.length}`];
  });
  return table(['KEY', 'HELD BY', 'TOKEN', LEFT, 'WAITING'], rows, width);
}

/** A row per holder and waiter of one key. */
export function details(line: KeyLine, width?: number): string[] {
  const rows = all(line).map((standing, place) => {
    const { held, label, token, since, remaining } = standing;
    const state = held ? styleText('green', 'holds') : 'waits';
    const lasts = since === undefined ? '-' : span(since);
    return [`${place + 1}`, state, label, asOf(standing), `${token}`, lasts, span(remaining)];
  });
  return table(['', 'STATE', 'WHO', 'AS', 'TOKEN', 'SINCE', LEFT], rows, width);
}

const tokenOf = (holder: QueueEntry | undefined): string => (holder && isExclusive(holder) ? `${holder.token}` : '-');

/** A line of JSON for each holder and waiter. */
export const records = (lines: readonly KeyLine[]): string[] =>
  lines.flatMap(all).map((standing) => JSON.stringify(recordOf(standing)));

/** A standing for JSON: tokens are text, since they may be larger than a number can be; null stands for no end. */
export function recordOf(standing: QueueEntry): object {
  const { key, held, position, token, label, since, remaining } = standing;
  const told = { key, held, position, as: asOf(standing), token: `${token}`, label };
  return { ...told, since: ms(since), remaining: ms(remaining) };
}
