import { cycling, killing, relaying } from '../entries.ts';
import { figure, type Row } from '../row.ts';

const group = 'file';
const ours = { group, contestant: 'holdfast' } as const;
const theirs = { group, contestant: 'proper-lockfile' } as const;

export const fileRows: readonly Row[] = [
  {
    group,
    title: 'one caller',
    entries: [cycling(ours), cycling(theirs)],
    targets: [{ what: 'cycles/s', value: figure('perSecond', 'holdfast'), atLeast: 15_000 }],
  },
  {
    group,
    title: 'hand-over between processes',
    entries: [relaying(ours), relaying(theirs, { legs: 50 })],
    targets: [{ what: 'ms, p50', value: figure('handOver', 'holdfast'), atMost: 1 }],
  },
  {
    group,
    title: 'a killed holder replaced',
    entries: [killing(ours)],
    targets: [{ what: 'ms', value: figure('replaced', 'holdfast'), atMost: 50 }],
  },
];
