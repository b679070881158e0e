import { manualClock } from '../../../products/testing/index.ts';
import { memory } from '../../../src/backends/memory.ts';
import { quorum } from '../../../src/backends/quorum/index.ts';
import { describeConformance } from '../../kit/suite.ts';

for (const count of [2, 3, 4]) {
  const nodes = Array.from({ length: count }, () => memory());
  describeConformance({ name: `a quorum of ${count} memory backends`, open: async () => quorum(nodes) });
}

const clock = manualClock();
const nodes = [1, 2, 3].map(() => memory({ clock }));
describeConformance({ name: 'a quorum on a manual clock', open: async () => quorum(nodes, { clock }), clock });
