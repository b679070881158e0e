import { Mutex } from 'async-mutex';
import { memory } from '../../src/backends/memory.ts';
import type { Contestant, Contestants } from '../contestant.ts';
import { holdfast } from './holdfast.ts';

function asyncMutex(): Contestant {
  const locks = new Map<string, Mutex>();
  return {
    lock(key) {
      const mutex = locks.get(key) ?? new Mutex();
      locks.set(key, mutex);
      return () => mutex.acquire();
    },
  };
}

export default { holdfast: () => holdfast(memory()), 'async-mutex': asyncMutex } satisfies Contestants;
