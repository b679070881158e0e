import { alone, cycling, fighting, relaying } from '../entries.ts';
import { figure, type Row, ratio, type Target } from '../row.ts';

type Group = 'postgres' | 'mysql';

const of = (group: Group) => (contestant: string) => ({ group, contestant }) as const;

/** The whole of us against what a lock table written by hand does: a statement that takes a row, and one that frees it. */
const rowsOf = (group: Group): readonly Row[] => {
  const who = of(group);
  const crowd = (callers: number) =>
    cycling({ ...who('holdfast'), name: `${callers} callers` }, { callers, own: false, ms: 1_500 });
  return [
    {
      group,
      title: 'one caller',
      entries: ['bare', 'holdfast'].map((contestant) => alone(who(contestant))),
      floor: 'bare',
      targets: [
        { what: '× two bare statements, as durable', value: ratio('perSecond', 'holdfast', 'bare'), atLeast: 0.8 },
      ],
    },
    {
      group,
      title: '100 callers, one key',
      entries: [crowd(100), cycling(who('bare'), { callers: 100, own: false, ms: 1_500 })],
      targets: [
        { what: '× the hand-overs of a poll of 5 ms', value: ratio('handOvers', '100 callers', 'bare'), atLeast: 3 },
      ],
    },
    {
      group,
      title: 'statements a hand-over, one process',
      entries: [crowd(10), crowd(1_000)],
      targets: [
        { what: '1,000 callers: × 10 callers', value: ratio('commands', '1000 callers', '10 callers'), atMost: 1.5 },
      ],
    },
    {
      group,
      title: '32 connections, 8 keys, 10 s',
      entries: [fighting(who('holdfast, apart'), { callers: 32, keys: 8, ms: 10_000 })],
      targets: [{ what: 'deadlocks', value: figure('deadlocks', 'holdfast, apart'), atMost: 0 }],
      rounds: 1,
    },
  ];
};

const handOver = (group: Group, contestants: readonly string[], targets: readonly Target[]): Row => ({
  group,
  title: 'hand-over between processes',
  entries: contestants.map((contestant) => relaying(of(group)(contestant), { legs: 100, rest: 8, warm: 200 })),
  targets,
});

export const sqlRows: readonly Row[] = [
  ...rowsOf('postgres'),
  handOver(
    'postgres',
    ['holdfast', 'notify', 'write and notify'],
    [
      {
        what: '× a bare NOTIFY, which waits for no disk, p50',
        value: ratio('handOver', 'holdfast', 'notify'),
        atMost: 3,
      },
      {
        what: '× a statement that writes and notifies, p50',
        value: ratio('handOver', 'holdfast', 'write and notify'),
        atMost: 3,
      },
    ],
  ),
  ...rowsOf('mysql'),
  handOver(
    'mysql',
    ['holdfast', 'holdfast, gate'],
    [
      { what: 'ms, the poll of 25 ms, p50', value: figure('handOver', 'holdfast'), atMost: 25 },
      { what: 'ms with the gate, p50', value: figure('handOver', 'holdfast, gate'), atMost: 5 },
    ],
  ),
];
