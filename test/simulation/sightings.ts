import type { History } from './history.ts';

/** How often what the checkers are for was there to be seen: a run in which nothing happens proves nothing. */
export type Sightings = Record<(typeof SEEN)[number], number>;

const SEEN = [
  'holds',
  'holds after a wait',
  'hand-offs',
  're-entries',
  'holds lost',
  'pauses of a holder',
  'crashes of a holder',
  'closings by a holder',
  'requests lost',
  'replies lost',
  'wakes lost',
  'requests that outran their sender',
  'requests refused',
  'waits ended by their limit',
  'waits ended by a signal',
] as const;

export const nothingSeen = (): Sightings => Object.fromEntries(SEEN.map((what) => [what, 0])) as Sightings;

export function addSightings(seen: Sightings, { events }: History): void {
  const holds = new Set<number>();
  const admitted = new Set<string>();
  const faults: Readonly<Record<string, keyof Sightings>> = {
    'pause of a holder': 'pauses of a holder',
    'crash of a holder': 'crashes of a holder',
    'close of a holder': 'closings by a holder',
    'request lost': 'requests lost',
    'reply lost': 'replies lost',
    'wake lost': 'wakes lost',
    'request outruns its sender': 'requests that outran their sender',
    refused: 'requests refused',
  };
  for (const event of events) {
    if (event.what === 'admitted') admitted.add(event.id);
    else if (event.what === 'signalled') seen['holds lost']++;
    else if (event.what === 'fault') {
      const kind = faults[event.kind];
      if (kind) seen[kind]++;
    } else if (event.what === 'settled') {
      if (event.error === 'LOCK_TIMEOUT') seen['waits ended by their limit']++;
      if (event.error === 'LOCK_ABORTED') seen['waits ended by a signal']++;
    } else if (event.what === 'given') {
      if (holds.has(event.hold)) seen['re-entries']++;
      else {
        holds.add(event.hold);
        seen.holds++;
        if (event.passes > 0) seen['hand-offs']++;
        else if (admitted.has(event.id)) seen['holds after a wait']++;
      }
    }
  }
}
