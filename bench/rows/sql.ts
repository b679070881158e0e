import { cycling, relaying } from '../entries.ts';
import { type Row, ratio } from '../row.ts';

/** The same rows for both: one statement to take and one to free is what anyone would write first. */
const rowsOf = (group: 'postgres' | 'mysql'): readonly Row[] => {
  const both = ['holdfast', 'bare'].map((contestant) => ({ group, contestant }) as const);
  return [
    {
      group,
      title: 'one caller',
      entries: both.map((who) => cycling(who)),
      targets: [{ what: '× the bare statements', value: ratio('perSecond', 'holdfast', 'bare'), atLeast: 0.8 }],
    },
    {
      group,
      title: '100 callers, one key',
      entries: both.map((who) => cycling(who, { callers: 100, own: false, ms: 1_500 })),
      targets: [
        { what: '× the hand-overs of a poll of 5 ms', value: ratio('handOvers', 'holdfast', 'bare'), atLeast: 3 },
      ],
    },
    {
      group,
      title: 'hand-over between processes',
      entries: both.map((who) => relaying(who, 60, 8)),
      targets: [{ what: '× that of the poll, p50', value: ratio('handOver', 'holdfast', 'bare'), atMost: 1 }],
    },
  ];
};

export const sqlRows: readonly Row[] = [...rowsOf('postgres'), ...rowsOf('mysql')];
