import { memory } from '../../src/backends/memory.ts';
import { laws, manualClock } from '../../src/testing/index.ts';
import { describeConformance } from '../kit/suite.ts';

const shared = memory();
describeConformance({ name: 'memory', open: async () => shared });

const clock = manualClock();
const still = memory({ clock });
const timing = { tolerance: 1, pass: (ms: number) => clock.advance(ms) };
describeConformance({ name: 'memory on a manual clock', open: async () => still, timing }, laws);
