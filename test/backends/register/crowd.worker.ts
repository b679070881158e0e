import { register } from '../../../src/backends/register/index.ts';
import { createLocks } from '../../../src/index.ts';
import { serve } from '../../kit/worker.ts';
import { remoteStore } from './remote-store.ts';

const locks = createLocks(register(remoteStore(Number(process.env.PORT))), {
  spin: { pause: 20, bound: 200 },
  // Hand-overs end by time, too: on a busy machine the default would count pauses of the machine, and not callers.
  handOff: { max: 64, within: '5s' },
});

serve({
  /** Proves the store, so that the crowd is not counted together with it. */
  warm: () => locks.mutex('warm').run(() => {}),
  /** So many callers each have the key once. */
  async crowd(callers: number) {
    let served = 0;
    await Promise.all(Array.from({ length: callers }, () => locks.mutex('hot').run(() => served++)));
    return served;
  },
  close: () => locks.close(),
});
