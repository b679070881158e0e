import { manualClock } from '../../../products/testing/index.ts';
import { register } from '../../../src/backends/register/index.ts';
import { memoryStore, shared } from '../../kit/register-store.ts';
import { describeConformance } from '../../kit/suite.ts';

for (const tellsTime of [true, false]) {
  for (const watches of [true, false]) {
    const clock = manualClock();
    const entries = shared();
    const store = () => memoryStore(entries, { clock, tellsTime, watches, delay: 8 });
    describeConformance({
      name: `register with${tellsTime ? '' : 'out'} a clock, with${watches ? '' : 'out'} a watch`,
      open: async () => register(store(), { clock }),
      apart: async () => register(store(), { prefix: 'elsewhere', clock }),
      clock,
    });
  }
}
