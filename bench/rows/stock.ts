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
  targets: [
    {
      what: '× a bare script that writes the same records',
      value: ratio('perSecond', `one step${pipelined}`, `bare script${pipelined}`),
      atLeast: 0.8,
    },
  ],
});

const crowd = { callers: 400, own: false, work: 5, ms: 2_000 };

export const stockRows: readonly Row[] = [
  {
    group,
    title: '400 buyers, 5 ms of work under the lock',
    entries: ['100 segments', 'one lock'].map((name) => cycling(of(name), crowd)),
    targets: [{ what: '× one lock', value: ratio('perSecond', '100 segments', 'one lock'), atLeast: 20 }],
  },
  steps('one atomic step, one buyer', 1),
  steps('one atomic step, 64 buyers', 64),
  steps('one atomic step, 64 buyers, pipelined by the client', 64, ', pipelined'),
];
