import { cycling, waiting } from '../entries.ts';
import { figure, type Row, ratio } from '../row.ts';

const group = 'memory';
const rivals = ['holdfast', 'async-mutex'];
const each = rivals.map((contestant) => ({ group, contestant }) as const);

export const memoryRows: readonly Row[] = [
  {
    group,
    title: 'one caller',
    entries: each.map((who) => cycling(who, { every: 100 })),
    targets: [{ what: '× async-mutex', value: ratio('perSecond', 'holdfast', 'async-mutex'), atLeast: 0.3 }],
  },
  {
    group,
    title: '100 callers, one key',
    entries: each.map((who) => cycling(who, { callers: 100, own: false, every: 10 })),
    targets: [{ what: '× async-mutex', value: ratio('perSecond', 'holdfast', 'async-mutex'), atLeast: 0.5 }],
  },
  {
    group,
    title: 'memory of a waiter',
    entries: each.map((who) => waiting(who, 10_000)),
    targets: [{ what: 'bytes', value: figure('bytes', 'holdfast'), atMost: 2_048 }],
  },
];
