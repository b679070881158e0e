import { lanes, overlaps } from './lanes.ts';
import type { Message } from './message.ts';
import { believes, type Moment, type Tally } from './recording.ts';

const LOCKING = new Set(['attempt', 'renew', 'release', 'get', 'set', 'expire', 'delete', 'subscribe']);

export function tallyOf(moments: readonly Moment[], messages: readonly Message[], fenced: number, ends: number): Tally {
  const last = moments.at(-1)!;
  return {
    two: Math.round(overlaps(lanes(moments, ends)).reduce((sum, { from, to }) => sum + to - from, 0)),
    lost: last.resource.lost,
    idle: idle(moments, ends),
    requests: messages.filter(({ kind, answer }) => LOCKING.has(kind) && !answer).length,
    engines: last.engines.length,
    done: last.people.reduce((sum, { done }) => sum + done, 0),
    fenced,
  };
}

function idle(moments: readonly Moment[], ends: number): number {
  let longest = 0;
  let since: number | undefined;
  for (const { at, people } of moments) {
    const waits = people.some(({ doing, dead, paused }) => doing === 'asks' && !dead && !paused);
    const works = people.some((person) => person.doing === 'works' && believes(person, at));
    if (!waits || works) {
      if (since !== undefined) longest = Math.max(longest, at - since);
      since = undefined;
    } else since ??= at;
  }
  if (since !== undefined && ends - since > 1_000) return Number.POSITIVE_INFINITY;
  return Math.round(longest);
}
