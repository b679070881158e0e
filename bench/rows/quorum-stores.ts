import { cycling, relaying } from '../entries.ts';
import type { Row } from '../row.ts';

/** No floor here: bench/etcd-transport.ts and bench/zookeeper.ts compare with the bare calls of the recipe. */
const rowsOf = (group: 'etcd' | 'zookeeper'): readonly Row[] => {
  const who = { group, contestant: 'holdfast' } as const;
  return [
    { group, title: 'one caller', entries: [cycling(who)], targets: [] },
    {
      group,
      title: '100 callers, one key',
      entries: [cycling(who, { callers: 100, own: false, ms: 1_500 })],
      targets: [],
    },
    { group, title: 'hand-over between processes', entries: [relaying(who, { legs: 60, rest: 15 })], targets: [] },
  ];
};

export const quorumStoreRows: readonly Row[] = [...rowsOf('etcd'), ...rowsOf('zookeeper')];
