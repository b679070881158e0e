import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../src/connect/index.ts';
import { serve } from '../kit/worker.ts';

const locks = await connect(process.env.URL!);
/** What all processes of this machine share, ms. */
const now = (): number => performance.timeOrigin + performance.now();

const calls = {
  /** Once, so that nobody has to connect when it counts. */
  warm: (key: string): Promise<void> => locks.mutex(key).run(() => {}),
  /** Callers that ask without pause until `to`: when each had the key. */
  async busy(
    key: string,
    callers: number,
    work: number,
    from: number,
    to: number,
  ): Promise<[begin: number, end: number][]> {
    const served: [number, number][] = [];
    await sleep(from - now());
    const calling = async (): Promise<void> => {
      while (now() < to) {
        const lease = await locks.mutex(key).acquire();
        const begin = now();
        await sleep(work);
        served.push([begin, now()]);
        await lease.release();
      }
    };
    await Promise.all(Array.from({ length: callers }, calling));
    return served;
  },
};

export type BusyCalls = typeof calls;
serve(calls);
