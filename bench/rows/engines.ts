import { ENGINES } from '../../test/kit/engines.ts';
import { cycling, relaying } from '../entries.ts';
import type { Group, Row } from '../row.ts';

/** No floor here: bench/etcd-transport.ts and bench/zookeeper.ts compare with the bare calls of the recipe. */
const rowsOf = (group: Group): readonly Row[] => {
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

/** Those of each engine that is measured and has no rows of its own. */
export const rowsOfOthers = (own: readonly Row[]): readonly Row[] =>
  Object.entries(ENGINES)
    .filter(([engine, { unmeasured }]) => !unmeasured && !own.some(({ group }) => group === engine))
    .flatMap(([engine]) => rowsOf(engine));
