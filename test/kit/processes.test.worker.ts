import { serve, tell } from './worker.ts';

const calls = {
  double: (n: bigint) => n * 2n,
  fail() {
    throw Object.assign(new Error('no'), { name: 'LockError', code: 'LOCK_TIMEOUT' });
  },
  never: () => new Promise<string>(() => {}),
  tick(count: number) {
    for (let n = 0; n < count; n++) tell('tick', n);
  },
  crash() {
    console.error('about to crash');
    setImmediate(() => {
      throw new Error('crashed');
    });
  },
  version: () => process.version,
};

export type TestCalls = typeof calls;
serve(calls);
