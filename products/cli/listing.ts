import { styleText } from 'node:util';
import { asOf, isExclusive, visible } from '../../src/core/index.ts';
import type { Locks, QueueEntry } from '../../src/index.ts';
import type { MemoSight } from '../../src/memo/state.ts';
import { type EngineAddress, sourceOf } from './engine.ts';
import { span, table } from './terminal/table.ts';

/** The time that remains of a lease, unless it is renewed. */
const REMAINING = 'EXPIRES IN';

/** The queue of one key. */
export interface KeyQueueView {
  readonly key: string;
  readonly holders: readonly QueueEntry[];
  readonly waiters: readonly QueueEntry[];
}

/** Groups entries by key, in the order of each queue. */
export async function viewsOf(entries: AsyncIterable<QueueEntry>): Promise<KeyQueueView[]> {
  const views = new Map<string, { key: string; holders: QueueEntry[]; waiters: QueueEntry[] }>();
  for await (const entry of entries) {
    const { key, held } = entry;
    const view = views.get(key) ?? { key, holders: [], waiters: [] };
    views.set(key, view);
    view[held ? 'holders' : 'waiters'].push(entry);
  }
  return [...views.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

export const findView = async (locks: Locks, key: string): Promise<KeyQueueView | undefined> =>
  (await viewsOf(locks.inspect(key, { exact: true })))[0];

export function memoText({ state, attempts, token, since, remaining }: MemoSight): string {
  const facts = [
    token !== undefined && `token ${token}`,
    since !== undefined && `left ${span(since)} ago`,
    remaining !== undefined && `gone in ${span(remaining)}`,
    attempts > 0 && `begun ${attempts === 1 ? 'once' : `${attempts} times`} without a result`,
  ];
  return `memo: ${[state, ...facts.filter(Boolean)].join(', ')}`;
}

/** The state of a memo as a line of JSON, beside the lines of holders and waiters. */
export function memoRecord(key: string, { state: memo, attempts, token, since, remaining }: MemoSight): string {
  return JSON.stringify({ key, memo, attempts, token: tokenText(token), since: ms(since), remaining: ms(remaining) });
}

const tokenText = (token: bigint | undefined): string | null => (token === undefined ? null : `${token}`);
const ms = (time = Number.NaN): number | null => (Number.isFinite(time) ? Math.round(time) : null);

const all = ({ holders, waiters }: KeyQueueView): QueueEntry[] => [...holders, ...waiters];

/** The text in place of a table without rows. */
export function nobody(prefix: string, address: EngineAddress): string {
  const keys = prefix && ` whose key begins with ${visible(JSON.stringify(prefix))}`;
  return `Nobody holds or waits for anything${keys} in ${sourceOf(address)}.`;
}

/** The time since the first holder of a key asked for it, ms; undefined where the engine does not keep that. */
const ageOf = ({ holders: [first] }: KeyQueueView): number | undefined => first?.since;

/** The oldest holds first; then holds of unknown age, and keys without a holder. */
export const byAge = (a: KeyQueueView, b: KeyQueueView): number => (ageOf(b) ?? -1) - (ageOf(a) ?? -1);

export function overview(views: readonly KeyQueueView[], width?: number): string[] {
  const rows = views.map((view) => {
    const { key, holders, waiters } = view;
    const [first] = holders;
    const who = first ? first.label + (holders.length > 1 ? ` and ${holders.length - 1} more` : '') : '-';
    const remaining = holders.reduce((least, holder) => Math.min(least, holder.remaining), Number.POSITIVE_INFINITY);
    const ends = holders.length > 0 ? span(remaining) : '-';
    return [key, who, tokenOf(first), ago(ageOf(view)), ends, `${waiters.length}`];
  });
  return table(['KEY', 'HELD BY', 'TOKEN', 'SINCE', REMAINING, 'WAITING'], rows, width);
}

export function details(view: KeyQueueView, width?: number): string[] {
  const rows = all(view).map((entry, place) => {
    const { held, label, token, since, remaining } = entry;
    const state = held ? styleText('green', 'holds') : 'waits';
    return [`${place + 1}`, state, label, asOf(entry), `${token}`, ago(since), span(remaining)];
  });
  return table(['', 'STATE', 'WHO', 'AS', 'TOKEN', 'SINCE', REMAINING], rows, width);
}

const ago = (since: number | undefined): string => (since === undefined ? '-' : span(since));

const tokenOf = (holder: QueueEntry | undefined): string => (holder && isExclusive(holder) ? `${holder.token}` : '-');

export const records = (views: readonly KeyQueueView[]): string[] =>
  views.flatMap(all).map((entry) => JSON.stringify(recordOf(entry)));

/** An entry for JSON. Tokens are text, since they may be larger than a number can be. null: no end, or not known. */
export function recordOf(entry: QueueEntry): object {
  const { key, held, position, token, label, since, remaining } = entry;
  const told = { key, held, position, as: asOf(entry), token: `${token}`, label };
  return { ...told, since: ms(since), remaining: ms(remaining) };
}
