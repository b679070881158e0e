import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { describeConformance } from '../kit/suite.ts';

const shared = memory();
describeConformance({ name: 'memory', open: async () => shared });

const clock = manualClock();
const still = memory({ clock });
describeConformance({ name: 'memory on a manual clock', open: async () => still, clock });
