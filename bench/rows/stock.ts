import { CURVE, segmentsOf } from '../contestants/stock.ts';
import { cycling } from '../entries.ts';
import { type Row, ratio } from '../row.ts';

const group = 'stock';
const of = (contestant: string) => ({ group, contestant }) as const;

/**
 * The atomic way against a script that does nothing else, on the same client: one command a sale. Ours sends sales of one
 * moment to a segment together, so where many buy it needs fewer.
 */
const steps = (title: string, callers: number, pipelined = ''): Row => ({
  group,
  title,
  entries: ['one step', 'bare script'].map((name) => cycling(of(name + pipelined), { callers })),
  floor: `bare script${pipelined}`,
  targets: [
    {
      what: '× a bare script that writes the same records',
      value: ratio('perSecond', `one step${pipelined}`, `bare script${pipelined}`),
      atLeast: 0.8,
    },
  ],
});

const crowd = { callers: 400, own: false, work: 5, ms: 2_000 };

/** What each step buys: a poll, everyone in the engine's line, local first, hand-off, segments. */
const WAYS = [
  ...['bare', 'holdfast, apart', 'holdfast, no hand-off', 'holdfast'].map((contestant) => ({
    group: 'redis' as const,
    contestant,
  })),
  of(segmentsOf(20)),
];

const under = (contestant: string) => cycling(of(contestant), crowd);

export const stockRows: readonly Row[] = [
  {
    group,
    title: '400 buyers, 5 ms of work under the lock',
    entries: ['100 segments', 'one lock'].map(under),
    targets: [{ what: '× one lock', value: ratio('perSecond', '100 segments', 'one lock'), atLeast: 20 }],
  },
  {
    group,
    title: 'sales a second, by the number of segments',
    entries: CURVE.map((segments) => under(segmentsOf(segments))),
    targets: [],
    drawn: 'perSecond',
    rounds: 3,
  },
  {
    group,
    title: 'one hot key, and none: 4 processes × 25 callers, 1 ms of work',
    entries: WAYS.map((who) => cycling({ ...who, processes: 4 }, { callers: 25, own: false, work: 1, ms: 2_000 })),
    targets: [],
    drawn: 'handOvers',
    rounds: 3,
  },
  steps('one atomic step, one buyer', 1),
  steps('one atomic step, 64 buyers', 64),
  steps('one atomic step, 64 buyers, pipelined by the client', 64, ', pipelined'),
];
