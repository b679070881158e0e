import { PEOPLE, type Who } from './events.ts';
import { believes, type Moment, wants } from './recording.ts';

export interface Bar {
  readonly from: number;
  readonly to: number;
}

/** What one process did over the time. */
export interface Lane {
  readonly who: Who;
  readonly asks: readonly Bar[];
  /** It counted on the lock. */
  readonly believes: readonly Bar[];
  readonly paused: readonly Bar[];
  readonly dead: readonly Bar[];
  /** The engine kept the lock for it, or most of them did: the truth. */
  readonly kept: readonly Bar[];
  /** It was kept for one that does not want it, or is dead. */
  readonly vain: readonly Bar[];
}

type Test = (moment: Moment, from: number) => number;

/** Where `test` says so: it gives until when that lasts within the moment, `from` or less where it is not so. */
function bars(moments: readonly Moment[], ends: number, test: Test): Bar[] {
  const found: { from: number; to: number }[] = [];
  for (const [i, moment] of moments.entries()) {
    const to = Math.min(moments[i + 1]?.at ?? ends, test(moment, moment.at));
    if (to <= moment.at) continue;
    const last = found.at(-1);
    if (last && moment.at - last.to < 0.01) last.to = to;
    else found.push({ from: moment.at, to });
  }
  return found;
}

const NEVER = Number.NEGATIVE_INFINITY;
const ALWAYS = Number.POSITIVE_INFINITY;

/** Until when more than half of the engines keep the lock for it. */
function leaseEnd({ engines }: Moment, who: Who, at: number): number {
  const ends = engines
    .map(({ line, dead }) => (dead ? undefined : line.find((standing) => standing.held && standing.who === who)))
    .flatMap((standing) => (standing ? [standing.expires ?? ALWAYS] : []))
    .filter((expires) => expires > at)
    .sort((a, b) => b - a);
  // A primary and its replica need one lane: that of the one that is asked.
  const most = engines.length === 2 ? 1 : Math.floor(engines.length / 2) + 1;
  return ends[most - 1] ?? NEVER;
}

export function lanes(moments: readonly Moment[], ends: number): Lane[] {
  return PEOPLE.map((who) => {
    const person = (moment: Moment) => moment.people.find(({ name }) => name === who)!;
    const when = (test: (person: Moment['people'][number]) => boolean): Bar[] =>
      bars(moments, ends, (moment) => (test(person(moment)) ? ALWAYS : NEVER));
    return {
      who,
      asks: when(({ doing, dead }) => doing === 'asks' && !dead),
      believes: bars(moments, ends, (moment, at) =>
        believes(person(moment), at) ? (person(moment).belief!.until ?? ALWAYS) : NEVER,
      ),
      paused: when(({ paused, dead }) => paused && !dead),
      dead: when(({ dead }) => dead),
      kept: bars(moments, ends, (moment, at) => leaseEnd(moment, who, at)),
      vain: bars(moments, ends, (moment, at) => (wants(person(moment)) ? NEVER : leaseEnd(moment, who, at))),
    };
  });
}

/** Where more than one process counted on the lock. */
export function overlaps(all: readonly Lane[]): Bar[] {
  const found: Bar[] = [];
  for (const [i, { believes: mine }] of all.entries())
    for (const { believes: others } of all.slice(i + 1))
      for (const one of mine)
        for (const other of others) {
          const [from, to] = [Math.max(one.from, other.from), Math.min(one.to, other.to)];
          if (to - from > 0.5) found.push({ from, to });
        }
  return found.sort((a, b) => a.from - b.from);
}
