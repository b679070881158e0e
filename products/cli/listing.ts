import { styleText } from 'node:util';
import { asOf, isExclusive, visible } from '../../src/core/index.ts';
import type { Locks, QueueEntry } from '../../src/index.ts';
import type { MemoSight } from '../../src/memo/state.ts';
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

export const findLine = async (locks: Locks, key: string): Promise<KeyLine | undefined> =>
  (await linesOf(locks.inspect(key, { exact: true })))[0];

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

const all = ({ holders, waiters }: KeyLine): QueueEntry[] => [...holders, ...waiters];

/** Instead of a table without rows. */
export function nobody(prefix: string, address: EngineAddress): string {
  const keys = prefix && ` whose key begins with ${visible(JSON.stringify(prefix))}`;
  return `Nobody holds or waits for anything${keys} in ${sourceOf(address)}.`;
}

/** The time since the first holder of a key asked for it, ms; undefined where the engine does not keep that. */
const ageOf = ({ holders: [first] }: KeyLine): number | undefined => first?.since;

/** The oldest holds first; then those of unknown age, and keys without a holder. */
export const byAge = (a: KeyLine, b: KeyLine): number => (ageOf(b) ?? -1) - (ageOf(a) ?? -1);

export function overview(lines: readonly KeyLine[], width?: number): string[] {
  const rows = lines.map((line) => {
    const { key, holders, waiters } = line;
    const [first] = holders;
    const who = first ? first.label + (holders.length > 1 ? ` and ${holders.length - 1} more` : '') : '-';
    const left = holders.reduce((least, { remaining }) => Math.min(least, remaining), Number.POSITIVE_INFINITY);
    const ends = holders.length > 0 ? span(left) : '-';
    return [key, who, tokenOf(first), ago(ageOf(line)), ends, `${waiters.length}`];
  });
  return table(['KEY', 'HELD BY', 'TOKEN', 'SINCE', LEFT, 'WAITING'], rows, width);
}

export function details(line: KeyLine, width?: number): string[] {
  const rows = all(line).map((standing, place) => {
    const { held, label, token, since, remaining } = standing;
    const state = held ? styleText('green', 'holds') : 'waits';
    return [`${place + 1}`, state, label, asOf(standing), `${token}`, ago(since), span(remaining)];
  });
  return table(['', 'STATE', 'WHO', 'AS', 'TOKEN', 'SINCE', LEFT], rows, width);
}

const ago = (since: number | undefined): string => (since === undefined ? '-' : span(since));

const tokenOf = (holder: QueueEntry | undefined): string => (holder && isExclusive(holder) ? `${holder.token}` : '-');

export const records = (lines: readonly KeyLine[]): string[] =>
  lines.flatMap(all).map((standing) => JSON.stringify(recordOf(standing)));

/** A standing for JSON: tokens are text, since they may be larger than a number can be; null stands for no end. */
export function recordOf(standing: QueueEntry): object {
  const { key, held, position, token, label, since, remaining } = standing;
  const told = { key, held, position, as: asOf(standing), token: `${token}`, label };
  return { ...told, since: ms(since), remaining: ms(remaining) };
}
