import type { MemoEvent } from '../../../simulation/memo/history.ts';
import type { Told } from './told.ts';

/** Each time when a runner believed that nobody else had begun, though a later one had. @param told by all processes, in order */
export function beliefs(told: readonly Told[]): MemoEvent[] {
  const begun: (Told & { readonly what: 'begun' })[] = [];
  return told.flatMap((event): MemoEvent[] => {
    if (event.what === 'begun') begun.push(event);
    if (event.what !== 'held') return [];
    const own = begun.findIndex(({ op }) => op === event.op);
    const later = begun.slice(own + 1).map(({ op }) => op);
    return later.length > 0
      ? [{ at: event.at, what: 'believed', key: begun[own]!.key, ops: [event.op, ...later] }]
      : [];
  });
}
